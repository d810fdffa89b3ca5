"""A split tree known to its end, gone through one decision at a time."""

from __future__ import annotations

from dataclasses import replace

from sampling.splitting.tree import Share, SplitNode, SplitTree, Verdict, share_of


class KnownTree:
    """A tree known to its end, its decisions taken and taken back one by one as a `TreeGrower` does."""

    def __init__(self, tree: SplitTree) -> None:
        self._whole = tree
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many decisions have been taken."""
        return self._taken

    @property
    def tree(self) -> SplitTree:
        """The decisions so far."""
        taken = self._taken
        nodes = tuple(
            replace(node, right=None) if node.right is not None and node.right >= taken else node
            for node in self._whole.nodes[:taken]
        )
        return SplitTree(self._whole.group, nodes)

    @property
    def ahead(self) -> SplitNode | None:
        """The decision that `step` takes next; None when there is none left."""
        nodes = self._whole.nodes
        return replace(nodes[self._taken], left=None, right=None) if self._taken < len(nodes) else None

    @property
    def shares(self) -> tuple[Share, ...]:
        """The clusters that the decisions so far lead to, final or not yet decided on, shortest first."""
        nodes, taken = self._whole.nodes, self._taken
        children = [child for node in nodes[:taken] for child in (node.left, node.right)]
        still_open = [child for child in children if child is not None and child >= taken]
        final = [node.index for node in nodes[:taken] if node.verdict is Verdict.KEEP]
        reached = [nodes[index] for index in final + still_open] if taken else [nodes[0]]
        return tuple(sorted(map(share_of, reached), key=lambda share: share.cluster.start))

    def step(self) -> SplitNode | None:
        """Take the next decision; None when there is none left."""
        if self._taken == len(self._whole.nodes):
            return None
        self._taken += 1
        return replace(self._whole.nodes[self._taken - 1], right=None)

    def undo(self) -> bool:
        """Take back the last decision; False when there is none."""
        if self._taken == 0:
            return False
        self._taken -= 1
        return True
