"""`svc admin job`: uploads that the media worker has not processed yet or has failed to process."""

from argparse import ArgumentParser

from svc.tools.admin.action import Action, Result, or_none


def _id(parser: ArgumentParser) -> None:
    parser.add_argument("job", metavar="ID")


def _line(job: Result) -> str:
    fault = f"  {job['fault']}" if job["fault"] else ""
    return f"{job['id']}  {job['kind']}  {job['state']}, attempt {job['attempt']}{fault}"


ACTIONS = (
    Action("list", "list jobs, failed first", "job_list", shown=or_none("jobs", _line, "There are no jobs.")),
    Action("retry", "retry a failed job", "job_retry", _id, lambda options: {"job": options.job}),
)
