"""Cuts from Discord's openapi.json what requests.json needs: python3 cut.py openapi.json > requests.json"""

import json
import sys

CALLS = {
    "create message": ("post", "/channels/{channel_id}/messages"),
    "edit message": ("patch", "/channels/{channel_id}/messages/{message_id}"),
    "begin thread": ("post", "/channels/{channel_id}/threads"),
    "open thread": ("post", "/channels/{channel_id}/messages/{message_id}/threads"),
    "create webhook": ("post", "/channels/{channel_id}/webhooks"),
    "execute webhook": ("post", "/webhooks/{webhook_id}/{webhook_token}"),
    "edit webhook message": ("patch", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"),
    "answer interaction": ("post", "/interactions/{interaction_id}/{interaction_token}/callback"),
    "set commands": ("put", "/applications/{application_id}/commands"),
}
# What we never send. Left out, so that sending it would show.
UNUSED = {"embeds", "poll", "shared_client_theme", "sticker_ids", "choices_localizations"}
OTHERS = (
    "Modal", "SocialLayer", "LaunchActivity", "AutocompleteCallbackInteger", "AutocompleteCallbackNumber", "Container", "FileComponent",
    "MediaGallery", "Section", "Separator", "TextDisplay", "SelectComponent", "UnfurledMedia", "ComponentEmoji",
)
DROPPED = {"description", "title", "x-discord-union", "format", "contentEncoding", "examples", "deprecated"}

spec = json.load(open(sys.argv[1]))
defs = {}


def cut(node):
    if isinstance(node, list):
        return [cut(n) for n in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("properties"), dict):
        node = {**node, "properties": {k: v for k, v in node["properties"].items() if k not in UNUSED}, "additionalProperties": False}
    for union in ("anyOf", "oneOf"):
        if union in node:
            node = {**node, union: [n for n in node[union] if not any(o in n.get("$ref", "") for o in OTHERS)]}
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/components/schemas/")
        if name not in defs:
            defs[name] = None
            defs[name] = cut(spec["components"]["schemas"][name])
        return {"$ref": "#/$defs/" + name}
    return {k: cut(v) for k, v in node.items() if not (k in DROPPED and not isinstance(v, dict))}


calls = {
    name: cut(spec["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"])
    for name, (method, path) in CALLS.items()
}
json.dump({"$defs": {**dict(sorted(defs.items())), **{"call " + k: v for k, v in calls.items()}}}, sys.stdout, indent=1)
print()
