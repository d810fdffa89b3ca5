"""Whether a profile's files are still what was read: a plan names its profile by the hash of its bytes."""

from __future__ import annotations

from sampling.errors import ProfileError
from sampling.profile.content_hash import content_sha256, disk_state
from sampling.profile.profile import Profile, ProfileFile


def refuse_changed(profile: Profile) -> None:
    """Refuse a profile one of whose files was written anew since it was read; one that is gone has no say.

    Raises
    ------
    ProfileError : one was.
    """
    for file in profile.files:
        if file.state is not None and file.location.exists():
            _refuse_if_changed(file)


def sha256_as_read(file: ProfileFile) -> str:
    """Return the SHA-256 of what was read: of the bytes on disk, which must be the same still.

    Raises
    ------
    ProfileError : the file was written anew since.
    OSError : it is gone.
    """
    if file.sha256 is not None:
        return file.sha256
    digest = content_sha256(file.location)
    # After hashing, which may take long: what was hashed is what was read then.
    _refuse_if_changed(file)
    return digest


def _refuse_if_changed(file: ProfileFile) -> None:
    if file.state is not None and not file.state <= disk_state(file.location):
        raise ProfileError(
            "has changed on disk since it was read",
            path=file.path,
            remedy="open it again for a plan of what it holds now",
        )
