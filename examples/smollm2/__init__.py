"""SmolLM2-135M-Instruct, decoded through paged attention."""
