"""GitHub's events in which people talk: issues, pull requests, reviews, discussions, comments.

Each function makes a card, or None where the event is not worth one. Does no I/O.
GitHub's documentation: "Webhook events and payloads".
"""

from svc.chat.webhooks.compatible.draft import CardDraft
from svc.chat.webhooks.compatible.github_cards import (
    FAILURE,
    GONE,
    MERGED,
    NEUTRAL,
    NEW,
    SHORT_SHA,
    SUCCESS,
    body_of,
    card,
    numbered,
)
from svc.chat.webhooks.compatible.reading import Node


def issues(event: Node) -> CardDraft | None:
    issue, action = event.child("issue"), event.text("action")
    reason = issue.text("state_reason")
    match action:
        case "opened":
            done, color = "opened", NEW
        case "reopened":
            done, color = "reopened", NEW
        case "closed" if reason in ("", "completed"):
            done, color = "closed", MERGED
        case "closed":
            done, color = f"closed as {reason.replace('_', ' ')}", NEUTRAL
        case "deleted" | "transferred":
            done, color = action, GONE
        case _:
            return None
    text = body_of(issue) if action == "opened" else ""
    return card(event, f"Issue {done}: {numbered(issue)}", url=issue.text("html_url"), text=text, color=color)


def pull_request(event: Node) -> CardDraft | None:
    request, action = event.child("pull_request"), event.text("action")
    match action:
        case "opened":
            done, color = "opened as a draft" if request.flag("draft") else "opened", NEW
        case "reopened":
            done, color = "reopened", NEW
        case "ready_for_review":
            done, color = "ready for review", NEW
        case "converted_to_draft":
            done, color = "turned into a draft", NEUTRAL
        case "closed" if request.flag("merged"):
            done, color = f"merged into {request.child('base').text('ref')}", MERGED
        case "closed":
            done, color = "closed", GONE
        case _:
            return None
    text = body_of(request) if action == "opened" else ""
    what = f"Pull request {done}: {numbered(request)}"
    return card(event, what, url=request.text("html_url"), text=text, color=color)


_REVIEWS = {
    "approved": ("Approved", SUCCESS),
    "changes_requested": ("Changes requested", FAILURE),
    "commented": ("Review", NEUTRAL),
}


def pull_request_review(event: Node) -> CardDraft | None:
    review = event.child("review")
    state, text = review.text("state").lower(), body_of(review)
    if event.text("action") != "submitted" or state not in _REVIEWS:
        return None
    # The comments that such a review consists of have events of their own.
    if state == "commented" and not text:
        return None
    verdict, color = _REVIEWS[state]
    what = f"{verdict}: {numbered(event.child('pull_request'))}"
    return card(event, what, url=review.text("html_url"), text=text, color=color)


def pull_request_review_comment(event: Node) -> CardDraft | None:
    return _comment(event, f"Review comment on {numbered(event.child('pull_request'))}")


def issue_comment(event: Node) -> CardDraft | None:
    issue = event.child("issue")
    kind = "pull request" if "pull_request" in issue else "issue"
    return _comment(event, f"Comment on {kind} {numbered(issue)}")


def commit_comment(event: Node) -> CardDraft | None:
    return _comment(event, f"Comment on commit {event.child('comment').text('commit_id')[:SHORT_SHA]}")


def discussion(event: Node) -> CardDraft | None:
    thing = event.child("discussion")
    match event.text("action"):
        case "created":
            action, color, text = "started", NEW, body_of(thing)
        case "answered":
            action, color, text = "answered", SUCCESS, body_of(event.child("answer"))
        case "closed" | "reopened" as action:
            color, text = NEUTRAL, ""
        case _:
            return None
    what = f"Discussion {action}: {numbered(thing)}"
    return card(event, what, url=thing.text("html_url"), text=text, color=color)


def discussion_comment(event: Node) -> CardDraft | None:
    return _comment(event, f"Comment on discussion {numbered(event.child('discussion'))}")


def _comment(event: Node, what: str) -> CardDraft | None:
    """Not when it was edited or deleted: what was said has been said."""
    if event.text("action") != "created":
        return None
    comment = event.child("comment")
    return card(event, what, url=comment.text("html_url"), text=body_of(comment))
