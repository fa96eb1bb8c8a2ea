/** The version of this app, as the server says its own. Filled in by Vite. */
declare const __BATON_VERSION__: string
