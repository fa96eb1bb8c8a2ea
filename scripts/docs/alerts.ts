import { ALERT_CAUSES, type AlertCause, causeOf, THRESHOLD_CAUSES } from '../../src/kinds/alert/causes.ts'
import { code, madeFrom, page, table } from './markdown.ts'

const SOURCE = 'src/kinds/alert/causes.ts'

const INTRO = `An alert says that something is wrong, from when it was noticed until it is over. Of one cause about one subject, one alert is open at a time: noticed again, it is counted, with \`firstAt\` and \`lastAt\`. It is resolved by itself when its cause is gone; nobody has to close it. The list of causes is [${SOURCE}](../${SOURCE}).`

const READING = `\`GET /alerts?state=&severity=&cause=&scope=\` lists them, newest first, and \`GET /alerts/:id\` reads one. \`state\` is \`open\`, \`acknowledged\` or \`resolved\`. Those that are over are kept for ninety days, their events for as long as the log.

\`POST /alerts/:id/acknowledge {"comment"}\`, with the right \`operate\`, says that somebody looks after it; the first one who does is named. It stays until its cause is gone. Where nothing in the database shows when that is (see the paragraphs below), acknowledging ends it.

An alert is an item of the [inbox](people.md#the-inbox) of the kind \`alert\`, with the id \`raised:<id>\` and the decision \`acknowledge\`, until somebody acknowledges it. Where the inbox has an item about the same already (a task that nobody takes, an agent in error, a budget that is used up, a dead letter), there is no second one: the alert is in \`GET /alerts\`, and names that item in \`inboxItem\`. The overview shows how many nobody looks after, and the worst three.

The events are \`alert_raised\`, \`alert_repeated\` (counted), \`alert_acknowledged\` and \`alert_resolved\`; each has the cause as \`alert\`, the detail as \`error\`, \`alertId\`, \`severity\`, \`about\`, \`subject\`, \`name\` and \`count\`. Events of older versions have the first two only, and end with \`alert_cleared\`.`

const SCOPES = `The alerts of a workspace are in that workspace. Those of the instance (its nodes, its database, its coordinator) are in its first workspace: its people see them there, and a key with the right \`instance\` reads them from any workspace with \`scope=instance\`. Acknowledging one needs that right.`

const TIMES = `Events raise and resolve alerts within a second of their commit. What changes with time alone, such as an age, a rate within an hour, or a silent node, is looked at once a minute. Of one cause, a look tells at most a thousand subjects.`

const SETTING = `\`GET /thresholds\` lists them, \`PUT /thresholds/:cause {"value","isOn"}\` sets one for the workspace, and \`DELETE /thresholds/:cause\` goes back to the default; both need the right \`admin\`. An alert is raised by a figure above the value. Those that are off are figures of \`GET /coordinator/status\` and \`GET /overview\` all the same, and raise an alert only where somebody has chosen so. The thresholds of the instance count in its first workspace.`

const FACTS = { true: 'an item about the same', false: 'the alert' } as const

export function alertsPage(): string {
  return page(
    madeFrom(SOURCE),
    '# Alerts',
    INTRO,
    READING,
    '## Of a workspace, of the instance',
    SCOPES,
    '## When',
    TIMES,
    '## Causes',
    table(
      ['cause', 'severity', 'about', 'of', 'item of the inbox'],
      ALERT_CAUSES.map((cause) => {
        const { severity, about, scope, isItemAlready } = causeOf(cause)
        return [`[${code(cause)}](#${cause})`, severity, about, scope, FACTS[`${isItemAlready === true}`]]
      }),
    ),
    '## Thresholds',
    SETTING,
    table(
      ['cause', 'default', 'of', 'raises an alert'],
      THRESHOLD_CAUSES.map((cause) => {
        const { value, of, isOn } = causeOf(cause).threshold!
        return [code(cause), String(value), of, isOn ? 'yes' : 'if chosen']
      }),
    ),
    '## What to do',
    ...ALERT_CAUSES.flatMap(paragraph),
  )
}

const paragraph = (cause: AlertCause) => {
  const { severity, words, when, todo } = causeOf(cause)
  return [`### ${cause}`, `**${words}** (${severity}). ${when}`, `What to do: ${todo}`]
}
