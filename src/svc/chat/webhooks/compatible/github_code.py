"""GitHub's events about code and where it lives: pushes, branches, releases, runs, deployments, stars.

Each function makes a card, or None where the event is not worth one. Does no I/O.
GitHub's documentation: "Webhook events and payloads".
"""

from svc.chat.webhooks.compatible.draft import CardDraft
from svc.chat.webhooks.compatible.github_cards import (
    FAILURE,
    GONE,
    NEUTRAL,
    NEW,
    SHORT_SHA,
    SUCCESS,
    WAITING,
    body_of,
    card,
    first_line,
)
from svc.chat.webhooks.compatible.markup import escaped, link
from svc.chat.webhooks.compatible.reading import Node

# A card with more is read by nobody.
MAX_COMMITS_SHOWN = 10
# GitHub names no more of a push.
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
    return card(event, "This channel now hears from GitHub", text=escaped(event.text("zen")), color=SUCCESS)


def push(event: Node) -> CardDraft | None:
    ref, commits = event.text("ref"), event.children("commits", MAX_COMMITS)
    # What only makes or removes a branch, and what moves a tag, is told by `create` and `delete`.
    if not ref.startswith("refs/heads/") or not (commits or event.flag("forced")):
        return None
    branch = ref.removeprefix("refs/heads/")
    count = "1 new commit" if len(commits) == 1 else f"{len(commits)} new commits"
    lines = [_commit(commit) for commit in commits[:MAX_COMMITS_SHOWN]]
    if len(commits) > MAX_COMMITS_SHOWN:
        lines.append(f"and {len(commits) - MAX_COMMITS_SHOWN} more")
    what, color = f"{count} on {branch}", NEUTRAL
    if event.flag("forced"):
        what, color = f"{branch} was rewritten by force, {count}", WAITING
    return card(event, what, url=event.text("compare"), text="\n".join(lines), color=color)


def _commit(commit: Node) -> str:
    author = commit.child("author")
    name = author.text("username") or author.text("name")
    sha = link(commit.text("id")[:SHORT_SHA], commit.text("url"))
    return f"{sha} {escaped(first_line(commit.text('message')))} – {escaped(name)}"


def create(event: Node) -> CardDraft:
    return card(event, f"New {event.text('ref_type')}: {event.text('ref')}", color=NEW)


def delete(event: Node) -> CardDraft:
    return card(event, f"Deleted {event.text('ref_type')}: {event.text('ref')}", color=GONE)


def release(event: Node) -> CardDraft | None:
    # `released`, `prereleased` and `created` come beside it.
    if event.text("action") != "published":
        return None
    thing = event.child("release")
    kind = "Pre-release" if thing.flag("prerelease") else "Release"
    what = f"{kind}: {thing.text('name') or thing.text('tag_name')}"
    return card(event, what, url=thing.text("html_url"), text=body_of(thing), color=NEW)


def fork(event: Node) -> CardDraft:
    forkee = event.child("forkee")
    return card(event, f"Forked to {forkee.text('full_name')}", url=forkee.text("html_url"))


def star(event: Node) -> CardDraft | None:
    return card(event, "New star", color=WAITING) if event.text("action") == "created" else None


def public(event: Node) -> CardDraft:
    return card(event, "The repository is public now", color=NEW)


def member(event: Node) -> CardDraft | None:
    who = event.child("member")
    match event.text("action"):
        case "added":
            return card(event, f"New collaborator: {who.text('login')}", url=who.text("html_url"), color=NEW)
        case "removed":
            what = f"Collaborator removed: {who.text('login')}"
            return card(event, what, url=who.text("html_url"), color=GONE)
    return None


def workflow_run(event: Node) -> CardDraft | None:
    run = event.child("workflow_run")
    return _run(event, run, run.text("name") or event.child("workflow").text("name"))


def check_suite(event: Node) -> CardDraft | None:
    """Of services beside GitHub's own, whose runs have an event of their own."""
    suite = event.child("check_suite")
    app = suite.child("app")
    return None if app.text("slug") == "github-actions" else _run(event, suite, app.text("name"))


def _run(event: Node, run: Node, name: str) -> CardDraft | None:
    found = _CONCLUSIONS.get(run.text("conclusion"))
    if event.text("action") != "completed" or found is None:
        return None
    outcome, color = found
    sha = run.text("head_sha")[:SHORT_SHA]
    text = f"{sha} {escaped(first_line(run.child('head_commit').text('message')))}".strip()
    what = f"{name} {outcome} on {run.text('head_branch')}"
    return card(event, what, url=run.text("html_url"), text=text, color=color)


def deployment_status(event: Node) -> CardDraft | None:
    status, deployment = event.child("deployment_status"), event.child("deployment")
    found = _DEPLOYMENTS.get(status.text("state"))
    if found is None:
        return None
    outcome, color = found
    where = deployment.text("environment") or status.text("environment")
    what = f"Deployment of {deployment.text('ref')} to {where} {outcome}"
    url = status.text("environment_url") or status.text("target_url") or status.text("log_url")
    return card(event, what, url=url, text=escaped(status.text("description")), color=color)
