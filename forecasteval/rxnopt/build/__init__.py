"""Questions made of tables of reactions: sheets, cells, chemicals, options, prompts."""
