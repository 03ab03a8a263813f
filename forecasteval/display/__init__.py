"""What any result looks like: tables, results, pages, charts."""
