/** Reports lead to the API, which programs read: on the page their links lead to pages. Pure. */

const VIEWS: Record<string, string> = {
  tasks: '?view=tasks',
  plan: '?view=plan',
  events: '?view=activity',
  reports: '?view=report',
  report: '?view=report',
}
const LINK = /\]\(\/api\/v1\/(tasks|runs|missions)\/([0-9a-f-]{36})(?:\/([a-z]+))?\)/g

/** `base` is the address of the workspace, such as "https://baton.example/w/shop". */
export const withPageLinks = (markdown: string, base: string): string =>
  markdown.replace(LINK, (_, kind: string, id: string, part?: string) => {
    const rest = part === undefined ? '' : kind === 'tasks' ? `?tab=${part}` : (VIEWS[part] ?? '')
    return `](${base}/${kind}/${id}${rest})`
  })
