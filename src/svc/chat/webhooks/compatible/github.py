"""Converts a GitHub webhook payload to a message: one card for each event of interest.

For each of these events, a function returns a card, or None if the event is not worth one. All other events
are accepted and post nothing, so a hook on GitHub may send every event. Cards do not notify anyone. This
module performs no I/O. See "Webhook events and payloads" in GitHub's documentation.
"""

from collections.abc import Callable, Mapping

from svc.chat.webhooks.compatible.draft import CardDraft, MessageDraft, cut
from svc.chat.webhooks.compatible.payload_reader import Node, escape, link, outside_code, with_emoji

NEW = SUCCESS = 0x2DA44E
GONE = FAILURE = 0xCF222E
MERGED = 0x8250DF
WAITING = 0xBF8700
NEUTRAL = 0x57606A

# The maximum number of characters to show, enough to recognise the subject. The title links to the rest.
MAX_BODY_CHARACTERS = 600
# The maximum number of characters to read. Templates begin with long hidden comments.
MAX_BODY_READ = 6_000
# The maximum number of characters to read from a commit message or a name.
MAX_LINE_READ = 400
SHORT_SHA = 7


def card(event: Node, what: str, *, url: str = "", text: str = "", color: int = NEUTRAL) -> CardDraft:
    """Make a card. Its title is the repository's name followed by `what`."""
    sender = event.child("sender")
    repository = event.child("repository")
    source = repository.text("full_name") or event.child("organization").text("login")
    return CardDraft(
        title=f"[{source}] {what}" if source else what,
        url=url or repository.address("html_url"),
        description=text,
        color=color,
        author=sender.text("login"),
        author_url=sender.address("html_url"),
        author_icon=sender.address("avatar_url"),
    )


def body_of(written: Node) -> str:
    """Return the beginning of a Markdown body, without hidden comments."""
    head, *rest = written.text("body", MAX_BODY_READ).split("<!--")
    shown = head + "".join(hidden.partition("-->")[2] for hidden in rest)
    return outside_code(cut(shown.strip(), MAX_BODY_CHARACTERS), with_emoji)


def first_line(text: str) -> str:
    return with_emoji(next(iter(text.strip().splitlines()), ""))


def numbered_label(thing: Node) -> str:
    """Return the label for an issue, a pull request or a discussion: `#12 Its title`."""
    return f"#{thing.text('number')} {with_emoji(thing.text('title'))}".strip()


# The maximum number of commits on a card.
MAX_COMMITS_SHOWN = 10
# The maximum number of commits that GitHub lists for a push.
MAX_COMMITS = 2_048

_CONCLUSIONS = {
    "success": ("succeeded", SUCCESS),
    "failure": ("failed", FAILURE),
    "timed_out": ("timed out", FAILURE),
    "startup_failure": ("did not start", FAILURE),
    "action_required": ("waits for somebody", WAITING),
    "cancelled": ("was cancelled", NEUTRAL),
}
_DEPLOYMENTS = {
    "success": ("succeeded", SUCCESS),
    "failure": ("failed", FAILURE),
    "error": ("failed", FAILURE),
}


def ping(event: Node) -> CardDraft:
    return card(event, "This channel now hears from GitHub", text=escape(event.text("zen")), color=SUCCESS)


def push(event: Node) -> CardDraft | None:
    ref, commits = event.text("ref"), event.count("commits", MAX_COMMITS)
    # `create` and `delete` report pushes that only create or remove a branch, or move a tag.
    if not ref.startswith("refs/heads/") or not (commits or event.flag("forced")):
        return None
    branch = ref.removeprefix("refs/heads/")
    count = "1 new commit" if commits == 1 else f"{commits} new commits"
    lines = [_commit(commit) for commit in event.children("commits", MAX_COMMITS_SHOWN)]
    if commits > MAX_COMMITS_SHOWN:
        lines.append(f"and {commits - MAX_COMMITS_SHOWN} more")
    what, color = f"{count} on {branch}", NEUTRAL
    if event.flag("forced"):
        what, color = f"{branch} was rewritten by force, {count}", WAITING
    return card(event, what, url=event.address("compare"), text="\n".join(lines), color=color)


def _commit(commit: Node) -> str:
    author = commit.child("author")
    name = author.text("username", MAX_LINE_READ) or author.text("name", MAX_LINE_READ)
    sha = link(commit.text("id")[:SHORT_SHA], commit.text("url", MAX_LINE_READ))
    return f"{sha} {escape(first_line(commit.text('message', MAX_LINE_READ)))} – {escape(name)}"


def create(event: Node) -> CardDraft:
    return card(event, f"New {event.text('ref_type')}: {event.text('ref')}", color=NEW)


def delete(event: Node) -> CardDraft:
    return card(event, f"Deleted {event.text('ref_type')}: {event.text('ref')}", color=GONE)


def release(event: Node) -> CardDraft | None:
    # GitHub also sends `released`, `prereleased` and `created` for the same release.
    if event.text("action") != "published":
        return None
    thing = event.child("release")
    kind = "Pre-release" if thing.flag("prerelease") else "Release"
    what = f"{kind}: {thing.text('name') or thing.text('tag_name')}"
    return card(event, what, url=thing.address("html_url"), text=body_of(thing), color=NEW)


def fork(event: Node) -> CardDraft:
    forkee = event.child("forkee")
    return card(event, f"Forked to {forkee.text('full_name')}", url=forkee.address("html_url"))


def star(event: Node) -> CardDraft | None:
    return card(event, "New star", color=WAITING) if event.text("action") == "created" else None


def public(event: Node) -> CardDraft:
    return card(event, "The repository is public now", color=NEW)


def member(event: Node) -> CardDraft | None:
    who = event.child("member")
    match event.text("action"):
        case "added":
            return card(
                event, f"New collaborator: {who.text('login')}", url=who.address("html_url"), color=NEW
            )
        case "removed":
            what = f"Collaborator removed: {who.text('login')}"
            return card(event, what, url=who.address("html_url"), color=GONE)
    return None


def workflow_run(event: Node) -> CardDraft | None:
    run = event.child("workflow_run")
    return _run(event, run, run.text("name") or event.child("workflow").text("name"))


def check_suite(event: Node) -> CardDraft | None:
    """Report the result of another service's checks. GitHub's own runs have a different event."""
    suite = event.child("check_suite")
    app = suite.child("app")
    return None if app.text("slug") == "github-actions" else _run(event, suite, app.text("name"))


def _run(event: Node, run: Node, name: str) -> CardDraft | None:
    conclusion = _CONCLUSIONS.get(run.text("conclusion"))
    if event.text("action") != "completed" or conclusion is None:
        return None
    outcome, color = conclusion
    sha = run.text("head_sha")[:SHORT_SHA]
    text = f"{sha} {escape(first_line(run.child('head_commit').text('message', MAX_LINE_READ)))}".strip()
    what = f"{name} {outcome} on {run.text('head_branch')}"
    return card(event, what, url=run.address("html_url"), text=text, color=color)


def deployment_status(event: Node) -> CardDraft | None:
    status, deployment = event.child("deployment_status"), event.child("deployment")
    state = _DEPLOYMENTS.get(status.text("state"))
    if state is None:
        return None
    outcome, color = state
    where = deployment.text("environment") or status.text("environment")
    what = f"Deployment of {deployment.text('ref')} to {where} {outcome}"
    url = status.address("environment_url") or status.address("target_url") or status.address("log_url")
    return card(event, what, url=url, text=escape(status.text("description")), color=color)


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
    return card(
        event, f"Issue {done}: {numbered_label(issue)}", url=issue.address("html_url"), text=text, color=color
    )


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
    what = f"Pull request {done}: {numbered_label(request)}"
    return card(event, what, url=request.address("html_url"), text=text, color=color)


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
    # GitHub also sends a separate event for each comment in such a review.
    if state == "commented" and not text:
        return None
    verdict, color = _REVIEWS[state]
    what = f"{verdict}: {numbered_label(event.child('pull_request'))}"
    return card(event, what, url=review.address("html_url"), text=text, color=color)


def pull_request_review_comment(event: Node) -> CardDraft | None:
    return _comment(event, f"Review comment on {numbered_label(event.child('pull_request'))}")


def issue_comment(event: Node) -> CardDraft | None:
    issue = event.child("issue")
    kind = "pull request" if "pull_request" in issue else "issue"
    return _comment(event, f"Comment on {kind} {numbered_label(issue)}")


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
    what = f"Discussion {action}: {numbered_label(thing)}"
    return card(event, what, url=thing.address("html_url"), text=text, color=color)


def discussion_comment(event: Node) -> CardDraft | None:
    return _comment(event, f"Comment on discussion {numbered_label(event.child('discussion'))}")


def _comment(event: Node, what: str) -> CardDraft | None:
    """Report a new comment. Ignore edits and deletions."""
    if event.text("action") != "created":
        return None
    comment = event.child("comment")
    return card(event, what, url=comment.address("html_url"), text=body_of(comment))


# The converters, keyed by the value of X-GitHub-Event, which is also the name of the function. `watch` is
# missing, because GitHub sends it together with `star`.
EVENTS: Mapping[str, Callable[[Node], CardDraft | None]] = {
    made.__name__: made
    for made in (
        *(check_suite, commit_comment, create, delete, deployment_status, discussion, discussion_comment),
        *(fork, issue_comment, issues, member, ping, public, pull_request, pull_request_review),
        *(pull_request_review_comment, push, release, star, workflow_run),
    )
}


def message(event: str, body: Node) -> MessageDraft | None:
    """Convert an event. Return None if there is nothing to post. Raises InvalidValue."""
    make = EVENTS.get(event)
    card = make(body) if make else None
    return None if card is None else MessageDraft(cards=[card])
