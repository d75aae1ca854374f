"""The language server: what `autohybrid check` knows, in an editor, while the text is being written."""
