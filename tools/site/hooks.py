"""A link from a document to a file outside docs/ leads to that file in the repository."""

import logging
import os
import posixpath
import re

log = logging.getLogger("mkdocs.hooks.repository")
outside = re.compile(r"\]\((\.\./[^)#\s]+)")


def on_page_markdown(markdown, page, config, **_):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))
    root = os.path.dirname(config.config_file_path)

    def lead(match):
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        if path.startswith("docs/"):
            return match[0]
        if path.startswith("../") or not os.path.exists(os.path.join(root, path)):
            log.warning("%s has a link to %s, which is not there", page.file.src_uri, path)
        kind = "tree" if os.path.isdir(os.path.join(root, path)) else "blob"
        return f"]({config.repo_url.rstrip('/')}/{kind}/main/{path}"

    return outside.sub(lead, markdown)
