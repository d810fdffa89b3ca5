"""What each method does, in a few sentences for someone who has not read its paper."""

from __future__ import annotations

_WORDS = {
    "joint": "The durations of each kernel group are split into strata of similar launches, and launches are "
    "drawn at random from each. How many is solved for all strata together: the total is to be within "
    "epsilon at the confidence, each kernel group's own total within a looser bound, at the least time to "
    "simulate. Kernel groups with a small share of the time are pooled where that takes less time.",
    "root": "The durations of each kernel group are split in two, and each part again, for as long as "
    "a split makes the plan cheaper. Launches are drawn at random from each part, as many as the error model "
    "STEM asks for.",
    "stem": "Launches are drawn at random from each kernel group, as many as the error model STEM asks for "
    "given the spread of the group's durations.",
    "allegro": "The durations of each kernel group are split by k-means until those of a part are alike. "
    "Launches are drawn at random from each part, as many as the central limit theorem asks for.",
    "random": "Launches are drawn at random from all launches alike, whatever kernel they are of.",
    "pks": "Launches are clustered by their metrics after a principal component analysis, and one launch "
    "stands for each cluster.",
    "two-level": "The first launches are clustered by their metrics, and the others are assigned to these "
    "clusters by what is known of them without metrics. One launch stands for each cluster.",
    "sieve": "Launches of a kernel are put into strata by how many instructions they execute, and one launch "
    "stands for each stratum.",
    "photon": "A launch stands for later launches of its kernel that execute nearly the same blocks of code.",
    "tbpoint": "Launches are clustered by their metrics, from the bottom up, and one launch stands for each "
    "cluster.",
    "first-instructions": "The first launches of the run are taken, up to a number of instructions, and "
    "stand for all others.",
    "single-iteration": "The launches of one iteration of the program's loop are taken and stand for all "
    "iterations.",
    "embedding": "Launches are clustered by vectors that are given for them, and launches of each cluster "
    "stand for the others of it.",
}


def method_words(method: str) -> str:
    """Return what a method does."""
    return _WORDS[method]
