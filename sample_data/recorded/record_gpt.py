"""Records the profiles of this folder: a small GPT of plain PyTorch on one GPU (PyTorch 2.11, CUDA 13).

python record_gpt.py inference FILE.json
torchrun --nproc-per-node 4 record_gpt.py training FOLDER
"""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile, record_function

ACTIVITIES = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


class Block(nn.Module):
    """A layer: attention, then two linear ones."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the words (batch, length, width) one layer on."""
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    """Layers between an embedding and a head."""

    def __init__(
        self, width: int = 768, heads: int = 12, layers: int = 6, words: int = 8192, length: int = 256
    ) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits (batch, length, words)."""
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for number, block in enumerate(self.blocks):
            with record_function(f"layer {number}"):
                x = block(x)
        return self.head(self.norm(x))


def inference(path: str) -> None:
    """Record four rounds of batches of five sizes, after two that are not recorded."""
    torch.manual_seed(0)
    model = Gpt().cuda().bfloat16().eval()
    sizes = [(1, 32), (1, 64), (4, 64), (4, 256), (16, 256)]
    batches = [torch.randint(0, 8192, size, device="cuda") for size in sizes]
    with torch.no_grad():
        for ids in batches * 2:
            model(ids)
        torch.cuda.synchronize()
        with profile(activities=ACTIVITIES, record_shapes=True) as recording:
            for ids in batches * 4:
                with record_function(f"batch {ids.shape[0]}x{ids.shape[1]}"):
                    model(ids)
            torch.cuda.synchronize()
    recording.export_chrome_trace(path)


def training(folder: str) -> None:
    """Record two steps of data-parallel training, a file a rank; all ranks share the one GPU."""
    torch.distributed.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(0)
    torch.manual_seed(0)
    small = Gpt(width=256, heads=4, layers=2, words=2048, length=128).cuda()
    model = nn.parallel.DistributedDataParallel(small, device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(rank)
    ids = torch.randint(0, 2048, (8, 129), device="cuda")

    def step() -> None:
        logits = model(ids[:, :-1])
        functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.distributed.barrier()
    with profile(activities=ACTIVITIES, record_shapes=True) as recording:
        for number in range(2):
            with record_function(f"step {number}"):
                step()
        torch.cuda.synchronize()
    recording.export_chrome_trace(f"{folder}/rank{rank}.json")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    {"inference": inference, "training": training}[sys.argv[1]](sys.argv[2])
