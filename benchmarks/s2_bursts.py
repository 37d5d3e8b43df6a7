"""S2 with a real camera's bursts: a frame's ten packets back to back. python -m benchmarks.s2_bursts"""

from benchmarks.sfu_comparison import run
from svc.tools.bench.scenario import Scenario

TITLE, SCENARIO, PPS = "S2 in bursts: 1 x 50, 30 frames/s of 10 x 1100 bytes", Scenario(1, 50, burst=10), 300

if __name__ == "__main__":
    run(TITLE, SCENARIO, PPS)
