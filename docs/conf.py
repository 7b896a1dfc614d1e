"""How Sphinx builds the documentation: ``make docs``."""

from importlib.metadata import version as installed_version

project = "Onion"
author = "The Onion authors"
project_copyright = "The Onion authors"
release = installed_version("onion-ai")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["changelog.d/*", "decisions/template.md"]
html_theme = "furo"
html_title = f"Onion {release}"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
myst_heading_anchors = 3
napoleon_numpy_docstring = False
