"""Parts of the editor of surveys."""
