"""The options of the commands between a plan and the whole run's cost."""

from __future__ import annotations

from sampling.text import NumberKind
from tui.options.files import FeatureFile, InputFile, Product
from tui.options.shared import (
    DETAILS,
    OUTPUT_PANEL,
    OutputOptions,
    Texts,
    argument,
    height_option,
    option,
    output_option,
    width_option,
)

RESULTS_PANEL = "Results"
InputFiles = tuple[InputFile, ...]


class AlignOptions(OutputOptions):
    plan: InputFile = argument("A plan file; its profile is read where it lay.", "PLAN")
    trace: InputFile = argument(
        "The folder of the traces, or the list of launches that a tracer wrote.", "TRACE"
    )
    process: int | None = option("The traced process of the profile; that of the plan if not given.")
    device: int | None = option("The traced device of the profile; that of the plan if not given.")
    fail_below: float | None = option(
        "Exit 4 where a smaller share of the profile's launches is in both; so it is where none is.",
        metavar="SHARE",
        least=0,
        most=1,
    )


class ExportOptions(OutputOptions):
    output: str | None = output_option("The folder to write to; `-` is stdout.", "FOLDER", Product.FOLDER)
    plan: InputFile = argument("A plan file.", "PLAN")
    to: str = option("<exporter>.", default="csv", metavar="TARGET")
    shards: int = option("Share the launches out over so many machines, by sampled time.", default=1, least=1)
    traces: InputFile | None = option("<traces>: the traces to check the launches against.", metavar="DIR")
    caches: str | None = option(
        "What they find in L2: warm (for <fills> with --traces), loads, own, after:N, cold.",
        metavar="HOW",
    )
    cold_check: int = option(
        "Launches start cold, and R of them run once more after the 16 before each: `estimate` corrects the"
        " total by these.",
        default=0,
        metavar="R",
        least=0,
    )
    config: InputFile | None = option("<config>: the gpgpusim.config, for the size of its L2.")
    simulator_log: InputFile | None = option(
        "<simulator_log>: what it printed of any run: Accel-Sim 2.0 needs no traces with shortened addresses."
    )
    trace_before: int = option(
        "<trace_before>: record so many launches before each too.", default=16, least=0
    )
    metric_set: str | None = option(
        "<metric_set>: what is measured, by commas: roofline, memory, or metrics by their names.",
        "--set",
        metavar="SET",
    )
    drop_copies: bool = option("<drop_copies>: leave out the memory copies that the traces list.")


class RunOptions(OutputOptions):
    output: str | None = output_option(
        "The folder of the run, gone on with if it is there; PLAN.run if not given.", "FOLDER", Product.FOLDER
    )
    plan: InputFile = argument("A plan file, the folder of a run, or a study.toml.", "PLAN")
    to: str = option("<run>; csv is any that is told an id.", default="accel-sim", metavar="TARGET")
    simulator: str = option(
        "Its command line. Of each launch, {list} is the list that it runs, {id} its id, {folder} where it "
        "runs; csv: it prints a number of cycles last, or writes it to {out}.",
        metavar="COMMAND",
    )
    traces: InputFile | None = option("<run traces>: the traces.", metavar="DIR")
    caches: str | None = option(
        "What launches find in the caches, as for `export`; csv: what the command sees to, else cold.",
        metavar="STATE",
    )
    cold_check: int = option(
        "So many launches run once more, as for `export`.", default=0, metavar="R", least=0
    )
    config: InputFile | None = option("<run config>: gpgpusim.config, for the size of L2.")
    accept_cold: bool = option("A total of launches that started cold may keep --target.")
    target: float | None = option(
        "Stop when the interval of the total, of a study of every speedup, reaches this fraction to either "
        "side, draw more until it does; exit 4 if it cannot.",
        fraction=True,
    )
    jobs: int = option("So many launches at once.", "-j", default=1, least=1)
    timeout: str | None = option(
        "Give a launch up after this long: 90m, 24h; another takes its place.", metavar="TIME"
    )
    assume_like: str | None = option(
        "Take kernels that the simulator never runs to behave as this one: #RANK, or part of the key.",
        metavar="KERNEL",
    )
    slurm: bool = option("Run nothing: take what is finished, and write a job array for the rest.")


class ProjectOptions(OutputOptions):
    logs: InputFiles = argument(
        "A log of what happens within kernels; the simulator's stdout may be given too.", "LOG"
    )
    source: str | None = option("<intervals>; by content if not given.", "--from", metavar="NAME")
    stability: float = option(
        "Steady below this deviation of the IPC, in per cent, as published.",
        default=0.25,
        kind=NumberKind.PERCENT,
        metavar="PERCENT",
    )
    window: int = option("Cycles over which it is taken.", default=3000, metavar="CYCLES", least=1)
    artifact: bool = option("The rule of the published artifact.")
    ctas_per_sm: Texts = option("CTAs that an SM holds at once.", metavar="[KERNEL=]N")
    sms: int | None = option("SMs of the simulated GPU.", least=1)
    instructions: Texts = option("Instructions of the whole kernel.", metavar="[KERNEL=]N")
    instructions_from: InputFile | None = option(
        "Instructions of kernels not simulated whole, at most: the tracer's stats.csv."
    )
    ctas: Texts = option("CTAs of the whole kernel.", metavar="[KERNEL=]N")
    kernel: str | None = option(
        "#NUMBER as listed, or part of the name: whose chart to draw.", "-k", metavar="KERNEL"
    )
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")


class ResultFileOptions(OutputOptions, panel=RESULTS_PANEL):
    """How results are read."""

    source: str | None = option("<results>; by content if not given.", "--from", metavar="SIMULATOR")
    manifests: InputFiles = option("The manifest.csv of the export that was run (repeat).", "--manifest")


class SimulatedFileOptions(ResultFileOptions, panel=RESULTS_PANEL):
    """How a simulator's results are read, and what is known of them."""

    accept_cold: bool = option("A total of launches that started cold may keep --target.")
    projection_error: float | None = option(
        "The relative error of `projected_cycles`, where fewer than three launches have cycles too.",
        fraction=True,
    )
    scale_error: float | None = option(
        "The half-width of a scale model's interval, where cycles are its predictions.", fraction=True
    )


class ResultsOptions(SimulatedFileOptions, panel=RESULTS_PANEL):
    """What is asked of the total."""

    metrics: Texts = option(
        "A counter to add up, by its printed name or column (repeat).", "--metric", metavar="NAME"
    )
    ratios: Texts = option(
        "A ratio of two totals, such as misses over accesses (repeat).", "--ratio", metavar="A/B"
    )
    clock: str | None = option(
        "The simulated GPU's clock, as 1132MHz, where no log prints it: time beside the GPU's.", metavar="HZ"
    )
    target: float | None = option(
        "Exit 4 while the total's interval is wider than this fraction to either side.", fraction=True
    )


class EstimateOptions(ResultsOptions, asks=["number_locale"]):
    plan: InputFile = argument("A plan file.", "PLAN")
    results: InputFiles = argument("What a simulator wrote of the plan's launches.", "RESULTS")
    confidence: float | None = option("Of the intervals; the plan's if not given.", fraction=True)
    groups: bool = option("List every kernel group's own total.")
    details: bool = DETAILS
    top_up: str | None = option(
        "Write the larger plan here while --target is not met.", metavar="PLAN", product=Product.PLAN
    )


class RooflineOptions(ResultFileOptions, panel=RESULTS_PANEL, asks=["number_locale"]):
    plan: InputFile = argument("A plan file.", "PLAN")
    results: InputFiles = argument("What a profiler counted of the plan's launches.", "RESULTS")
    peak: str | None = option(
        "Operations and bytes a second at most, as 67T,3.35T; those of the file if not given.",
        metavar="OPERATIONS,BYTES",
    )
    kernels: int = option("Draw and list so many of the largest.", default=8, least=0, metavar="N")
    confidence: float | None = option("Of the intervals; the plan's if not given.", fraction=True)
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")


class SpeedupOptions(SimulatedFileOptions, panel=RESULTS_PANEL):
    plan: InputFile = argument("A plan file; or a study.toml, which says where results are.", "PLAN")
    results: tuple[FeatureFile, ...] = argument(
        "A configuration and what it wrote of the plan's launches: logs, a CSV, the folder of a run. The "
        "first is the base; several files of one: repeat its name.",
        "NAME=RESULTS",
        required=False,
    )
    all_pairs: bool = option("Compare each with each, not all with the first.")
    same_within: float | None = option(
        "Two are the same where their speedup is surely within this fraction of 1: 0.005 if not given, or "
        "what the study says.",
        fraction=True,
    )
    confidence: float | None = option("Of all intervals together; the plan's if not given.", fraction=True)
    groups: bool = option("List the kernels that gain and lose most.")
    target: float | None = option(
        "Exit 4 while a speedup's interval is wider than this fraction to either side.", fraction=True
    )
    top_up: str | None = option(
        "Write the larger plan here, one for all configurations, that narrows them to --target, or tells "
        "those that are open.",
        metavar="PLAN",
        product=Product.PLAN,
    )
    svg: str | None = option(
        "Write the figure for a paper here: bars by program, whiskers, the geometric mean; `-` is stdout.",
        panel=OUTPUT_PANEL,
        metavar="FILE",
        product=Product.PICTURE,
    )
    fail_slower: float | None = option(
        "Exit 4 where a configuration is surely slower than the base by more than this fraction.",
        fraction=True,
    )


class StudyNewOptions(OutputOptions):
    output: str | None = output_option(
        "Where the study goes; study.toml if not given, `-` is stdout.", "FILE", Product.STUDY
    )
    parts: tuple[FeatureFile, ...] = argument(
        "The plans, and the configurations by NAME=CONFIG, a gpgpusim.config; the first is the base.",
        "PLAN|NAME=CONFIG",
    )
    simulator: str = option(
        "The command line that runs a configuration, {config} in place of its file, {list} of its launches.",
        default="accel-sim.out -config {config} -config trace.config -trace {list}",
        metavar="COMMAND",
    )
