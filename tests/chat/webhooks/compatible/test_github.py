"""Some GitHub events become cards that describe them. Most actions post nothing."""

from typing import Any

import pytest

from svc.chat.webhooks.compatible import github
from svc.chat.webhooks.compatible.github import FAILURE, GONE, MERGED, NEUTRAL, NEW, SUCCESS, WAITING
from svc.chat.webhooks.compatible.payload_reader import Node
from tests.chat.webhooks.compatible.github_payloads import (
    AVATAR,
    COMMENT,
    DISCUSSION,
    ISSUE,
    PAGE,
    PULL_REQUEST,
    SENDER,
    WEB,
    deployment,
    event,
    push,
    run,
)

RELEASE = {
    "name": "",
    "tag_name": "v1.0",
    "prerelease": False,
    "html_url": f"{PAGE}/releases/1",
    "body": "Notes",
}
FORKEE = {"full_name": "other-user/tool", "html_url": f"{WEB}/other-user/tool"}
OTHER = {"login": "other-user", "html_url": f"{WEB}/other-user"}
REVIEW = {"state": "approved", "html_url": f"{PAGE}/pull/8#review-1", "body": None, "user": SENDER}
SUITE = run("success", app={"slug": "other-ci", "name": "Other CI"}, head_branch="mend")
COMPLETED = {**ISSUE, "state_reason": "completed"}
NOT_PLANNED = {**ISSUE, "state_reason": "not_planned"}
ON_PULL_REQUEST = {**ISSUE, "pull_request": {"url": f"{PAGE}/pull/7"}}

# Each row has the event, the payload, and the expected title (after the repository's name), link, colour and
# text of the card.
POSTED = [
    (
        "ping",
        event(zen="Keep it logically awesome.", hook_id=1),
        "This channel now hears from GitHub",
        PAGE,
        SUCCESS,
        "Keep it logically awesome.",
    ),
    (
        "push",
        push("Mend it\n\nAt last."),
        "1 new commit on main",
        f"{PAGE}/compare/a...b",
        NEUTRAL,
        f"[0000000]({PAGE}/commit/0000000) Mend it – example-user",
    ),
    (
        "push",
        push("a_b [c]", ref="refs/heads/fix/x", forced=True),
        "fix/x was rewritten by force, 1 new commit",
        f"{PAGE}/compare/a...b",
        WAITING,
        f"[0000000]({PAGE}/commit/0000000) a_b \\[c\\] – example-user",
    ),
    ("create", event(ref="mend", ref_type="branch"), "New branch: mend", PAGE, NEW, ""),
    ("delete", event(ref="v0.1", ref_type="tag"), "Deleted tag: v0.1", PAGE, GONE, ""),
    ("release", event("published", release=RELEASE), "Release: v1.0", f"{PAGE}/releases/1", NEW, "Notes"),
    (
        "release",
        event("published", release={**RELEASE, "name": "One", "prerelease": True}),
        "Pre-release: One",
        f"{PAGE}/releases/1",
        NEW,
        "Notes",
    ),
    ("fork", event(forkee=FORKEE), "Forked to other-user/tool", f"{WEB}/other-user/tool", NEUTRAL, ""),
    ("star", event("created", starred_at="2026-01-31T12:00:00Z"), "New star", PAGE, WAITING, ""),
    ("public", event(), "The repository is public now", PAGE, NEW, ""),
    ("member", event("added", member=OTHER), "New collaborator: other-user", f"{WEB}/other-user", NEW, ""),
    (
        "member",
        event("removed", member=OTHER),
        "Collaborator removed: other-user",
        f"{WEB}/other-user",
        GONE,
        "",
    ),
    (
        "issues",
        event("opened", issue=ISSUE),
        "Issue opened: #7 It is *broken*",
        f"{PAGE}/issues/7",
        NEW,
        "Steps:\n\n1. Start it",
    ),
    (
        "issues",
        event("closed", issue=COMPLETED),
        "Issue closed: #7 It is *broken*",
        f"{PAGE}/issues/7",
        MERGED,
        "",
    ),
    (
        "issues",
        event("closed", issue=NOT_PLANNED),
        "Issue closed as not planned: #7 It is *broken*",
        f"{PAGE}/issues/7",
        NEUTRAL,
        "",
    ),
    (
        "issues",
        event("reopened", issue=ISSUE),
        "Issue reopened: #7 It is *broken*",
        f"{PAGE}/issues/7",
        NEW,
        "",
    ),
    (
        "issues",
        event("transferred", issue=ISSUE),
        "Issue transferred: #7 It is *broken*",
        f"{PAGE}/issues/7",
        GONE,
        "",
    ),
    (
        "issue_comment",
        event("created", issue=ISSUE, comment=COMMENT),
        "Comment on issue #7 It is *broken*",
        COMMENT["html_url"],
        NEUTRAL,
        "Me too",
    ),
    (
        "issue_comment",
        event("created", issue=ON_PULL_REQUEST, comment=COMMENT),
        "Comment on pull request #7 It is *broken*",
        COMMENT["html_url"],
        NEUTRAL,
        "Me too",
    ),
    (
        "commit_comment",
        event("created", comment={**COMMENT, "commit_id": "6dcb09b5b578"}),
        "Comment on commit 6dcb09b",
        COMMENT["html_url"],
        NEUTRAL,
        "Me too",
    ),
    (
        "pull_request",
        event("opened", pull_request=PULL_REQUEST),
        "Pull request opened: #8 Mend it",
        f"{PAGE}/pull/8",
        NEW,
        "",
    ),
    (
        "pull_request",
        event("opened", pull_request={**PULL_REQUEST, "draft": True, "body": "Soon"}),
        "Pull request opened as a draft: #8 Mend it",
        f"{PAGE}/pull/8",
        NEW,
        "Soon",
    ),
    (
        "pull_request",
        event("ready_for_review", pull_request=PULL_REQUEST),
        "Pull request ready for review: #8 Mend it",
        f"{PAGE}/pull/8",
        NEW,
        "",
    ),
    (
        "pull_request",
        event("converted_to_draft", pull_request=PULL_REQUEST),
        "Pull request turned into a draft: #8 Mend it",
        f"{PAGE}/pull/8",
        NEUTRAL,
        "",
    ),
    (
        "pull_request",
        event("closed", pull_request={**PULL_REQUEST, "merged": True}),
        "Pull request merged into main: #8 Mend it",
        f"{PAGE}/pull/8",
        MERGED,
        "",
    ),
    (
        "pull_request",
        event("closed", pull_request=PULL_REQUEST),
        "Pull request closed: #8 Mend it",
        f"{PAGE}/pull/8",
        GONE,
        "",
    ),
    (
        "pull_request",
        event("reopened", pull_request=PULL_REQUEST),
        "Pull request reopened: #8 Mend it",
        f"{PAGE}/pull/8",
        NEW,
        "",
    ),
    (
        "pull_request_review",
        event("submitted", review=REVIEW, pull_request=PULL_REQUEST),
        "Approved: #8 Mend it",
        REVIEW["html_url"],
        SUCCESS,
        "",
    ),
    (
        "pull_request_review",
        event(
            "submitted",
            review={**REVIEW, "state": "changes_requested", "body": "No"},
            pull_request=PULL_REQUEST,
        ),
        "Changes requested: #8 Mend it",
        REVIEW["html_url"],
        FAILURE,
        "No",
    ),
    (
        "pull_request_review",
        event("submitted", review={**REVIEW, "state": "commented", "body": "Hm"}, pull_request=PULL_REQUEST),
        "Review: #8 Mend it",
        REVIEW["html_url"],
        NEUTRAL,
        "Hm",
    ),
    (
        "pull_request_review_comment",
        event("created", comment=COMMENT, pull_request=PULL_REQUEST),
        "Review comment on #8 Mend it",
        COMMENT["html_url"],
        NEUTRAL,
        "Me too",
    ),
    (
        "discussion",
        event("created", discussion=DISCUSSION),
        "Discussion started: #9 Which way?",
        f"{PAGE}/discussions/9",
        NEW,
        "Left or right?",
    ),
    (
        "discussion",
        event("answered", discussion=DISCUSSION, answer={"body": "Left"}),
        "Discussion answered: #9 Which way?",
        f"{PAGE}/discussions/9",
        SUCCESS,
        "Left",
    ),
    (
        "discussion",
        event("closed", discussion=DISCUSSION),
        "Discussion closed: #9 Which way?",
        f"{PAGE}/discussions/9",
        NEUTRAL,
        "",
    ),
    (
        "discussion_comment",
        event("created", discussion=DISCUSSION, comment=COMMENT),
        "Comment on discussion #9 Which way?",
        COMMENT["html_url"],
        NEUTRAL,
        "Me too",
    ),
    (
        "workflow_run",
        event("completed", workflow_run=run("success")),
        "CI succeeded on main",
        f"{PAGE}/actions/runs/30433642",
        SUCCESS,
        "6dcb09b Mend it",
    ),
    (
        "workflow_run",
        event("completed", workflow_run=run("failure")),
        "CI failed on main",
        f"{PAGE}/actions/runs/30433642",
        FAILURE,
        "6dcb09b Mend it",
    ),
    (
        "workflow_run",
        event("completed", workflow_run=run("cancelled")),
        "CI was cancelled on main",
        f"{PAGE}/actions/runs/30433642",
        NEUTRAL,
        "6dcb09b Mend it",
    ),
    (
        "check_suite",
        event("completed", check_suite=SUITE),
        "Other CI succeeded on mend",
        f"{PAGE}/actions/runs/30433642",
        SUCCESS,
        "6dcb09b Mend it",
    ),
    (
        "deployment_status",
        deployment("success"),
        "Deployment of main to production succeeded",
        "https://tool.test",
        SUCCESS,
        "Deployment finished_successfully.",
    ),
    (
        "deployment_status",
        deployment("error"),
        "Deployment of main to production failed",
        "https://tool.test",
        FAILURE,
        "Deployment finished_successfully.",
    ),
]


@pytest.mark.parametrize(("name", "body", "what", "url", "color", "text"), POSTED)
def test_a_github_event_becomes_a_card(
    name: str, body: dict[str, Any], what: str, url: str, color: int, text: str
) -> None:
    draft = github.message(name, Node(body))
    assert draft is not None
    card = {
        "title": f"[example-org/tool] {what}",
        "url": url,
        "description": text,
        "color": color,
        "author": {
            "name": "example-user",
            "url": f"{WEB}/example-user",
            "icon_url": AVATAR,
        },
    }
    assert draft.payload() == {"cards": [{key: value for key, value in card.items() if value != ""}]}


IGNORED = [
    ("push", push(ref="refs/heads/new", created=True)),
    ("push", push(ref="refs/heads/old", deleted=True)),
    ("push", push("Mend it", ref="refs/tags/v1.0")),
    ("issues", event("labeled", issue=ISSUE)),
    ("issues", event("edited", issue=ISSUE)),
    ("issue_comment", event("deleted", issue=ISSUE, comment=COMMENT)),
    ("pull_request", event("synchronize", pull_request=PULL_REQUEST)),
    ("pull_request_review", event("dismissed", review=REVIEW, pull_request=PULL_REQUEST)),
    (
        "pull_request_review",
        event("submitted", review={**REVIEW, "state": "commented"}, pull_request=PULL_REQUEST),
    ),
    ("discussion", event("pinned", discussion=DISCUSSION)),
    ("release", event("released", release=RELEASE)),
    ("star", event("deleted")),
    ("member", event("edited", member=OTHER)),
    ("workflow_run", event("requested", workflow_run=run(None))),
    ("workflow_run", event("completed", workflow_run=run("skipped"))),
    ("check_suite", event("completed", check_suite={**SUITE, "app": {"slug": "github-actions"}})),
    ("deployment_status", deployment("in_progress")),
    ("watch", event("started")),
    ("no_such_event", {}),
]


@pytest.mark.parametrize(("name", "body"), IGNORED)
def test_most_github_actions_post_nothing(name: str, body: dict[str, Any]) -> None:
    assert github.message(name, Node(body)) is None


def test_every_supported_github_event_is_tested() -> None:
    assert {name for name, *_ in POSTED} == set(github.EVENTS)


def test_the_card_for_a_large_push_lists_only_the_first_commits() -> None:
    draft = github.message("push", Node(push(*[f"Change {number}" for number in range(14)])))
    assert draft is not None
    lines = draft.cards[0].description.splitlines()
    assert draft.cards[0].title.endswith("14 new commits on main")
    assert len(lines) == 11 and lines[-1] == "and 4 more"


def test_a_long_body_is_truncated_and_hidden_parts_are_omitted() -> None:
    body = "<!-- one\n-->Seen" + "<!-- two -->" * 3 + " x" * 5_000
    draft = github.message("issues", Node(event("opened", issue={**ISSUE, "body": body})))
    assert draft is not None
    text = draft.cards[0].description
    assert text.startswith("Seen x x") and text.endswith("…") and len(text) <= 600


def test_emoji_names_in_titles_and_bodies_become_emoji() -> None:
    issue = {**ISSUE, "title": "Ship it :rocket:", "body": ":tada: but not `:tada:`"}
    draft = github.message("issues", Node(event("opened", issue=issue)))
    assert draft is not None
    assert draft.cards[0].title.endswith("Ship it \N{ROCKET}")
    assert draft.cards[0].description == "\N{PARTY POPPER} but not `:tada:`"


def test_the_card_for_an_organisation_event_names_the_organisation() -> None:
    body = {"zen": "Speak like a human.", "organization": {"login": "example-org"}, "sender": SENDER}
    draft = github.message("ping", Node(body))
    assert draft is not None
    assert draft.cards[0].title == "[example-org] This channel now hears from GitHub"


def test_mentions_in_github_cards_do_not_notify_anyone() -> None:
    body = event("opened", issue={**ISSUE, "body": "@everyone [Bob](mention:m-1)"})
    draft = github.message("issues", Node(body))
    assert draft is not None and draft.text == ""
