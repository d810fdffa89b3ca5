"""The plan of a program of a study: the one that the file names, or one that is made of its profile."""

from __future__ import annotations

from msgspec import structs

from sampling.parallel import Progress
from sampling.plan.draft import draft_plan
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import IN_FOLDER, PlanFile, read_plan
from sampling.plan.request import FEWEST_OF_SPEEDUPS, PlanRequest
from sampling.readers.registry import read_profile
from sampling.study.study_file import Study


def first_plan(study: Study, program: str, progress: Progress | None = None) -> PlanFile:
    """Return a program's plan before any of it is simulated; one made of a profile is written, once.

    Such a plan is that of `kernelpoint sample --for speedups`, in the program's folder of the study's run.
    Errors are those of `read_plan`, or of `read_profile` and `draft_plan`.
    """
    entry = study.programs[program]
    if entry.profile is None:
        return read_plan(str(study.place(entry.plan)))
    path = study.run_folder / program / IN_FOLDER
    if not path.is_file():
        text = _make_plan(study, entry.profile, progress).text()
        path.parent.mkdir(parents=True, exist_ok=True)
        # What is interrupted leaves no half of a plan.
        part = path.with_name(f"{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    return read_plan(str(path))


def _make_plan(study: Study, profile_path: str, progress: Progress | None) -> PlanFile:
    request = PlanRequest(min_samples=FEWEST_OF_SPEEDUPS)
    profile = read_profile([str(study.place(profile_path))], progress, request.read_options)
    draft = draft_plan(profile, request)
    plan = drawn_plan(draft.counts, draft.design, request.seed)
    document = plan_document(draft, plan, find_planned_launches(draft, plan, progress))
    # As the study names them, so that they are found wherever its folder is moved.
    files = tuple(structs.replace(file, path=study.shortened(file.path)) for file in document.profile.files)
    return structs.replace(document, profile=structs.replace(document.profile, files=files))
