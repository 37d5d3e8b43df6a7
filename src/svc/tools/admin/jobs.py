"""`svc admin job`: uploads that the media worker has yet to write anew, and those that it could not."""

from argparse import ArgumentParser
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result


def _id(parser: ArgumentParser) -> None:
    parser.add_argument("job", metavar="ID")


def _jobs(answer: Result) -> Iterator[str]:
    for job in answer["jobs"]:
        fault = f"  {job['fault']}" if job["fault"] else ""
        yield f"{job['id']}  {job['kind']}  {job['state']}, attempt {job['attempt']}{fault}"


ACTIONS = (
    Action("list", "those that were given up first", "job_list", shown=_jobs),
    Action(
        "retry", "try one again that was given up", "job_retry", _id, lambda options: {"job": options.job}
    ),
)
