"""What is said of the ranks of a run: who computes longest, who waits, and which one stands for all."""

from __future__ import annotations

from collections.abc import Iterator

from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import counts_selection
from sampling.reduction.ranks import RankTime, RankTimes, summarise_ranks
from sampling.text import counted
from tui.charts.quantities import count, duration, share
from tui.options.command_line import command_line, options_of
from tui.options.files import PLAN_NAME
from tui.options.look import RanksOptions
from tui.options.plan import SampleOptions
from tui.output.blocks import Block, CommandLine, Listing
from tui.output.writer import CommandResult
from tui.terminal.printable import Column
from tui.text.profile import with_selection

# A rank that computes this much longer than the middle one is worth naming.
_WORTH_SAYING = 0.01
# A rank whose kernels are no more than this off stands for all.
_STANDS = 0.05


def ranks_result(profile: Profile, times: RankTimes, options: RanksOptions) -> CommandResult:
    """Return the answer in every form."""
    blocks = tuple(_blocks(times, options))
    result = CommandResult("ranks", summarise_ranks(times), lambda _: blocks)
    return with_selection(result, counts_selection(profile, times.counts))


def rank_name(rank: RankTime) -> str:
    """Return what a rank is called: ``rank 7 gpu1``, or ``process 4242 gpu1`` where its rank is not known."""
    return f"{rank.sequence.owner} gpu{rank.sequence.device}"


def _blocks(times: RankTimes, options: RanksOptions) -> Iterator[Block]:
    ranks = times.ranks
    if len(ranks) == 1:
        yield "There is one rank: several files, or a folder of them, are looked at beside each other."
    else:
        yield f"{counted(len(ranks), 'rank')}. {_computing(times)} {_waiting(times)}".rstrip()
        yield _stands(times)
    yield ""
    yield _table(times)
    if len(ranks) > 1 and times.best.error_by_kernel <= _STANDS:
        yield ""
        chosen = {"process": (str(times.best.sequence.process),)}
        if sum(rank.sequence.process == times.best.sequence.process for rank in ranks) > 1:
            chosen |= {"device": (str(times.best.sequence.device),)}
        sampled = options_of(SampleOptions, options, output=PLAN_NAME).with_request(**chosen)
        yield CommandLine(command_line("sample", sampled))


def _computing(times: RankTimes) -> str:
    """Return which rank computes longest; where none does, which has less to do, if one has."""
    slowest, median_ns = times.slowest, times.median_compute_ns
    over = slowest.compute_ns / median_ns - 1 if median_ns else 0.0
    fastest = min(times.ranks, key=lambda rank: rank.compute_ns)
    under = 1 - fastest.compute_ns / median_ns if median_ns else 0.0
    if over < _WORTH_SAYING <= under:
        return f"{rank_name(fastest).capitalize()} computes shortest, {share(under)} below the median."
    if over < _WORTH_SAYING:
        return f"All compute as long as the median, within {share(_WORTH_SAYING)}."
    return f"{rank_name(slowest).capitalize()} computes longest, {share(over)} above the median."


def _waiting(times: RankTimes) -> str:
    """Return how much of their time the ranks wait for others; "" where that is not known."""
    if not times.matched_share:
        return ""
    shares = [(rank.waiting_ns or 0) / max(rank.kernel_ns, 1) for rank in times.ranks]
    ends = " to ".join(dict.fromkeys((share(min(shares)), share(max(shares)))))
    which = (
        "" if times.matched_share > 1 - 5e-4 else f" ({share(times.matched_share)} of it could be matched)"
    )
    takes = "takes at least" if times.missing else "takes"
    return f"Waiting for other ranks in collective communication{which} {takes} {ends} of their kernel time."


def _stands(times: RankTimes) -> str:
    """Return how well one rank stands for all, and whether that is enough."""
    best, ranks = times.best, len(times.ranks)
    # No nearer than one decimal is said.
    total, kernels = (share(max(abs(off), 0.001)) for off in (best.error, best.error_by_kernel))
    within = f"within {total} of the time of all {ranks}"
    if best.error_by_kernel > _STANDS:
        nearest = f"{ranks} times the time of {rank_name(best)}, the nearest, is {within}"
        return f"No rank alone is enough: {nearest}, but for some kernels {kernels} of it off."
    whole = f"{ranks} times its time is {within}, and for any kernels within {kernels} of it"
    return f"Simulating {rank_name(best)} alone is enough: {whole}."


def _table(times: RankTimes) -> Listing:
    ranks, median_ns = times.ranks, times.median_compute_ns
    communicates = any(rank.communication_ns for rank in ranks)
    of_talk = [
        Column("comm.", [share(rank.communication_ns / max(rank.kernel_ns, 1)) for rank in ranks]),
        Column("waiting", [duration(rank.waiting_ns) for rank in ranks]),
        Column("hidden", [share(rank.overlap_share) for rank in ranks]),
    ]
    figures = [
        Column("kernel time", [duration(rank.kernel_ns) for rank in ranks]),
        Column(f"x{len(ranks)} vs all", [_signed(rank.error) for rank in ranks]),
        Column("computing", [duration(rank.compute_ns) for rank in ranks]),
        Column(
            "vs median", [_signed(rank.compute_ns / median_ns - 1) if median_ns else "-" for rank in ranks]
        ),
        *(of_talk if communicates else ()),
        Column("elapsed", [duration(rank.elapsed_ns) for rank in ranks]),
        Column("busy", [share(rank.busy_share) for rank in ranks]),
        Column("launches", [count(rank.launches) for rank in ranks]),
    ]
    return Listing(figures, "rank", lambda row, _: rank_name(ranks[row]))


def _signed(fraction: float) -> str:
    return f"{100 * fraction:+.1f} %"
