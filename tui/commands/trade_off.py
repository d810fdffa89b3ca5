"""`trade-off`: what a plan costs at one epsilon after another."""

from __future__ import annotations

from sampling.plan.trade_off import check_has_trade_off
from tui.engine.budgets import PlanCosts, binding_of, budget_of
from tui.engine.studies import progress_of, study_as_asked, target_of
from tui.engine.trade_offs import epsilons_of, traded
from tui.options.commands import TradeOffOptions
from tui.output.writer import emit
from tui.text.selection import part_of_study, stated
from tui.text.trade_off import TradeOff, trade_off_answer


def run(options: TradeOffOptions) -> None:
    """Read once, design a plan at each epsilon, draw."""
    check_has_trade_off(options.method)
    target = target_of(options)
    budget_of(options)
    epsilons = epsilons_of(options.epsilons, target, with_plan=options.binding)
    study = study_as_asked(options.profiles, options)
    with progress_of(options) as progress:
        points, missing = traded(study, options, target, epsilons, progress)
        binding = binding_of(options, study, progress) if options.binding else None
    if not points:
        raise missing[0].problem
    known = TradeOff(options.method, target, epsilons, points, missing, PlanCosts(binding, options.slowdown))
    emit(stated(trade_off_answer(study, known, options), part_of_study(study)), options)
