"""What GitHub posts to a webhook, as a message of ours: one card for an event that is worth one.

Which events and which of their actions are is said here and in the files of the events; whatever
else comes is taken and posts nothing, so that a hook may send everything. Cards never notify
anybody. Does no I/O. GitHub's documentation: "Webhook events and payloads".
"""

from collections.abc import Callable, Mapping

from svc.chat.webhooks.compatible import github_code as code
from svc.chat.webhooks.compatible import github_talk as talk
from svc.chat.webhooks.compatible.draft import CardDraft, MessageDraft
from svc.chat.webhooks.compatible.reading import Node

# By the header X-GitHub-Event. `watch` is not here: GitHub sends it beside `star`.
EVENTS: Mapping[str, Callable[[Node], CardDraft | None]] = {
    "check_suite": code.check_suite,
    "commit_comment": talk.commit_comment,
    "create": code.create,
    "delete": code.delete,
    "deployment_status": code.deployment_status,
    "discussion": talk.discussion,
    "discussion_comment": talk.discussion_comment,
    "fork": code.fork,
    "issue_comment": talk.issue_comment,
    "issues": talk.issues,
    "member": code.member,
    "ping": code.ping,
    "public": code.public,
    "pull_request": talk.pull_request,
    "pull_request_review": talk.pull_request_review,
    "pull_request_review_comment": talk.pull_request_review_comment,
    "push": code.push,
    "release": code.release,
    "star": code.star,
    "workflow_run": code.workflow_run,
}


def message(event: str, body: Node) -> MessageDraft | None:
    """None where nothing is to be posted. Raises Unreadable."""
    make = EVENTS.get(event)
    card = make(body) if make else None
    return None if card is None else MessageDraft(cards=[card])
