"""Exports of other applications, in the shapes that they write."""

from typing import Any


def gpt_entry(
    key: str, parent: str | None, role: str = "user", parts: list[Any] | None = None, **more: Any
) -> dict[str, Any]:
    """One entry of ChatGPT's mapping."""
    content = more.pop("content", {"content_type": "text", "parts": parts if parts is not None else [f"text {key}"]})
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": more.pop("create_time", 1_700_000_000.5),
        "content": content,
        "recipient": "all",
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
        **more,
    }
    return {"id": key, "message": message, "parent": parent, "children": []}


def gpt_chat(entries: list[dict[str, Any]], current: str, **more: Any) -> dict[str, Any]:
    """One conversation of ChatGPT, with the empty root and the hidden system message that each has."""
    root: dict[str, Any] = {"id": "root", "message": None, "parent": None, "children": ["sys"]}
    system = gpt_entry("sys", "root", "system", [""], metadata={"is_visually_hidden_from_conversation": True})
    return {
        "title": "Trip",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0,
        "mapping": {entry["id"]: entry for entry in [root, system, *entries]},
        "moderation_results": [],
        "current_node": current,
        "conversation_id": "conv-1",
        "id": "conv-1",
        "is_archived": False,
        **more,
    }


def webui_message(key: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """One message of Open WebUI."""
    found = {
        "id": key,
        "parentId": parent,
        "childrenIds": [],
        "role": role,
        "content": content,
        "timestamp": 1_720_000_000,
    }
    return {**found, **({"model": "llama3.2:1b", "modelName": "Llama 3.2"} if role == "assistant" else {}), **more}


def webui_chat(messages: list[dict[str, Any]], current: str, **more: Any) -> dict[str, Any]:
    """One chat of Open WebUI's "export all chats"."""
    return {
        "id": "w-1",
        "user_id": "u",
        "title": "Soup",
        "chat": {
            "id": "",
            "title": "Soup",
            "models": ["llama3.2:1b"],
            "params": {"system": "Be brief."},
            "history": {"messages": {message["id"]: message for message in messages}, "currentId": current},
            "messages": [],
            "tags": [],
            "timestamp": 1_720_000_000_000,
            "files": [],
        },
        "updated_at": 1_720_000_100,
        "created_at": 1_720_000_000,
        "share_id": None,
        "archived": True,
        "pinned": True,
        "meta": {},
        "folder_id": None,
        **more,
    }


def studio_user(*texts: str, selected: int = 0) -> dict[str, Any]:
    """A user's message of LM Studio, with a version for each text."""
    return {
        "versions": [
            {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": text}]} for text in texts
        ],
        "currentlySelected": selected,
    }


def studio_answer(*texts: str, selected: int = 0) -> dict[str, Any]:
    """An answer of LM Studio, with a version for each text."""
    return {
        "versions": [
            {
                "type": "multiStep",
                "role": "assistant",
                "senderInfo": {"senderName": "llama-3.2-1b"},
                "steps": [
                    {
                        "type": "contentBlock",
                        "style": {"type": "thinking"},
                        "content": [{"type": "text", "text": "hm"}],
                    },
                    {
                        "type": "contentBlock",
                        "stepIdentifier": "1-0.5",
                        "content": [{"type": "text", "text": text}],
                        "defaultShouldIncludeInContext": True,
                        "shouldIncludeInContext": True,
                        "genInfo": {"identifier": "llama-3.2-1b-instruct", "stats": {"totalTimeSec": 2}},
                    },
                    {"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: 'prompt'"},
                ],
            }
            for text in texts
        ],
        "currentlySelected": selected,
    }


def studio_chat(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """One conversation file of LM Studio."""
    return {
        "name": "Kites",
        "pinned": True,
        "createdAt": 1_730_000_000_123,
        "preset": "",
        "tokenCount": 120,
        "systemPrompt": "Fly.",
        "messages": messages,
        "usePerChatPredictionConfig": True,
        "perChatPredictionConfig": {"fields": []},
        "clientInput": "",
        **more,
    }
