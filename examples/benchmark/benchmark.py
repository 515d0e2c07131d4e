#!/usr/bin/env python3
"""How much useful work a machine does: one JSON line on stdout, what it is doing on stderr.

Matrix products by precision, memory bandwidth, one training step of a small transformer, and an input
pipeline. Everything is made up on the spot: nothing is downloaded. Needs PyTorch; a GPU is used where there
is one.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

try:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
except ImportError:
    sys.exit("error: PyTorch is not installed\nhint: pip install torch")

FORMAT = 1
# A multiplication and an addition forward, and twice that backward.
TRAINING_FLOPS_PER_PARAMETER = 6


def note(text):
    print(text, file=sys.stderr, flush=True)


class Clock:
    """Times work on a device: GPUs are asked for events, since launches return before the work is done."""

    def __init__(self, device, seconds):
        self.device, self.seconds = device, seconds

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def once(self, work):
        if self.device.type != "cuda":
            start = time.perf_counter()
            work()
            return time.perf_counter() - start
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000

    def median(self, work):
        """Seconds per call: the median of as many calls as fit, after some that warm up."""
        for _ in range(3):
            work()
        self.wait()
        samples, until = [], time.perf_counter() + self.seconds
        while time.perf_counter() < until or len(samples) < 3:
            samples.append(self.once(work))
        return statistics.median(samples)


@contextlib.contextmanager
def tf32(allowed):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def fp8_product(size, device):
    """The product of two matrices in E4M3, as inference and mixed training use it."""
    a = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
    b = torch.randn(size, size, device=device).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def plain_product(size, dtype, device):
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return lambda: a @ b


def products(clock, size):
    """TFLOPS of dense matrix products. A precision that the machine does not have is left out."""
    device, gpu = clock.device, clock.device.type == "cuda"
    kinds = {"fp32": (lambda: plain_product(size, torch.float32, device), False)}
    if gpu:
        kinds["tf32"] = (lambda: plain_product(size, torch.float32, device), True)
        kinds["fp16"] = (lambda: plain_product(size, torch.float16, device), False)
    kinds["bf16"] = (lambda: plain_product(size, torch.bfloat16, device), False)
    if gpu and torch.cuda.get_device_capability() >= (8, 9):
        kinds["fp8"] = (lambda: fp8_product(size, device), False)
    if gpu and torch.cuda.get_device_capability() < (8, 0):
        del kinds["tf32"], kinds["bf16"]
    found = {}
    for name, (make, allowed) in kinds.items():
        note(f"matrix product, {name}, {size} × {size}")
        try:
            with tf32(allowed):
                seconds = clock.median(make())
        except (RuntimeError, NotImplementedError) as error:
            note(f"  left out: {str(error).splitlines()[0]}")
            continue
        found[name] = {"tflops": round(2 * size**3 / seconds / 1e12, 2), "size": size}
    return found


def bandwidth(clock, mib):
    note(f"memory bandwidth, {mib} MiB")
    source = torch.ones(mib * 2**20, dtype=torch.uint8, device=clock.device)
    target = torch.empty_like(source)
    seconds = clock.median(lambda: target.copy_(source))
    # Each byte is read once and written once.
    return {"copyGBps": round(2 * source.numel() / seconds / 1e9, 1)}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.attention(self.first(x)).view(shape).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.second(x))


class Transformer(nn.Module):
    def __init__(self, words, width, heads, layers):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embed(tokens))))


def training(clock, peak, small):
    """Tokens per second of forward, backward and Adam, and the share of the matrix product's own speed."""
    device = clock.device
    words, width, heads, layers, batch, length = (
        (256, 128, 4, 2, 2, 64) if small else (32_000, 2048, 16, 12, 8, 1024)
    )
    note(f"training step, {layers} layers of {width}, {batch} × {length} tokens, bf16")
    torch.manual_seed(1)
    model = Transformer(words, width, heads, layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=device.type == "cuda")
    tokens = torch.randint(words, (batch, length + 1), device=device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()

    seconds = clock.median(step)
    # An embedding is looked up, not multiplied.
    parameters = sum(p.numel() for p in model.parameters()) - model.embed.weight.numel()
    flops = TRAINING_FLOPS_PER_PARAMETER * parameters * batch * length
    flops += 6 * layers * batch * length**2 * width
    found = {
        "tokensPerSecond": round(batch * length / seconds),
        "tflops": round(flops / seconds / 1e12, 2),
        "parameters": parameters,
    }
    if peak:
        found["ofMatrixProduct"] = round(flops / seconds / 1e12 / peak, 3)
    if device.type == "cuda":
        found["memoryGiB"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    return found


class Pictures(Dataset):
    """Pictures of 224 × 224 as a job would read them: cut, turned, scaled."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, at):
        picture = torch.randint(256, (3, 256, 256), dtype=torch.uint8)
        x, y = at % 32, at * 7 % 32
        cut = picture[:, y : y + 224, x : x + 224]
        return (cut.flip(2) if at % 2 else cut).float() / 255


def feeding(clock, workers):
    note(f"input pipeline, {workers} workers")
    gpu = clock.device.type == "cuda"
    loader = DataLoader(Pictures(), batch_size=128, num_workers=workers, pin_memory=gpu)
    batches = iter(loader)
    for _ in range(max(2, workers)):
        next(batches).to(clock.device, non_blocking=True)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 2 * clock.seconds or count == 0:
        count += next(batches).to(clock.device, non_blocking=True).shape[0]
    clock.wait()
    return {"samplesPerSecond": round(count / (time.perf_counter() - start)), "workers": workers}


class Watch:
    """How busy the GPU was, by its driver's word, if that is there."""

    def __init__(self, gpu):
        ask = ["nvidia-smi", "--query-gpu=utilization.gpu,power.draw", "--format=csv,noheader,nounits", "-l", "1"]
        try:
            self.process = gpu and subprocess.Popen(ask, stdout=subprocess.PIPE, text=True)
        except OSError:
            self.process = None

    def end(self):
        if not self.process:
            return {}
        self.process.terminate()
        rows = [line.split(", ") for line in self.process.stdout.read().splitlines()]
        rows = [(float(row[0]), float(row[1])) for row in rows if len(row) == 2 and row[1][:1].isdigit()]
        if not rows:
            return {}
        busy, watts = zip(*rows)
        return {"gpuPercent": round(statistics.mean(busy)), "watts": round(statistics.mean(watts))}


def driver():
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def machine(device):
    found = {"cpus": os.cpu_count(), "architecture": platform.machine()}
    if device.type == "cuda":
        about = torch.cuda.get_device_properties(0)
        found["accelerator"] = {
            "name": about.name,
            "count": torch.cuda.device_count(),
            "memoryGiB": round(about.total_memory / 2**30, 1),
        }
    return found


def software():
    found = {"python": platform.python_version(), "torch": torch.__version__}
    if torch.version.cuda:
        found |= {"cuda": torch.version.cuda, "driver": driver()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each part is measured (3)")
    parser.add_argument("--device", choices=["cuda", "cpu"], help="which device; a GPU if there is one")
    parser.add_argument("--type", help="the machine type that this ran on, such as p5en.48xlarge")
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no GPU that PyTorch can use")
    gpu = torch.cuda.is_available() and asked.device != "cpu"
    device = torch.device("cuda" if gpu else "cpu")
    start, clock = time.perf_counter(), Clock(device, asked.seconds)
    watch = Watch(gpu)
    matrix = products(clock, 8192 if gpu else 1024)
    memory = bandwidth(clock, 2048 if gpu else 256)
    peak = matrix.get("bf16", {}).get("tflops")
    train = training(clock, peak, small=not gpu)
    used = watch.end()
    # Apart from what the GPU does: this is what the CPUs can feed it with.
    feed = feeding(clock, workers=min(16, os.cpu_count() or 1))
    at = datetime.datetime.now(datetime.timezone.utc)
    print(
        json.dumps(
            {
                "formatVersion": FORMAT,
                "kind": "benchmark",
                "at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "type": asked.type,
                "machine": machine(device),
                "software": software(),
                "matrixProduct": matrix,
                "memory": memory,
                "training": train,
                "input": feed,
                "used": used,
                "seconds": round(time.perf_counter() - start, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
