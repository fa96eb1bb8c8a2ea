/** Plans to start from, the usual one first. Pure. */
export const EXAMPLE_PLANS: readonly { words: string; text: string }[] = [
  {
    words: 'One step after another',
    text: `tasks:
  - tempId: look
    title: Find the ten slowest tests
  - tempId: mend
    title: Make them faster
    dependsOn: [ look ]
    verification: { kind: human }
`,
  },
  {
    words: 'Several at the same time, then one that joins them',
    text: `tasks:
  - tempId: prices
    title: Find out what others charge
    taskType: research
  - tempId: wishes
    title: Find out what customers ask for
    taskType: research
  - tempId: proposal
    title: Propose new prices
    description: Use what the research found, and name the sources.
    dependsOn: [ prices, wishes ]
    successCriteria: Each price has a reason.
    verification: { kind: human }
`,
  },
  {
    words: 'Build, check and announce',
    text: `tasks:
  - tempId: build
    title: Build the search page
    taskType: coding
    successCriteria: Typing three letters shows results.
    estimatedDurationMinutes: 30
    verification: { kind: agent }
  - tempId: check
    title: Try it on a phone
    dependsOn: [ build ]
    estimatedDurationMinutes: 10
  - tempId: announce
    title: Write the announcement
    dependsOn:
      - { on: build, kind: order }
    optional: true
`,
  },
  { words: 'An empty plan', text: 'tasks: []\n' },
]
