"""The web page: view models (plain, typed, no Flask), views (small, no logic) and the worked examples."""
