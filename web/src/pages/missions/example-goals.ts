export const EXAMPLE_GOALS = [
  {
    words: 'Find out why tests are slow',
    goal: 'Find the ten slowest tests of this repository, say why each is slow, and make them twice as fast.',
  },
  {
    words: 'Write the missing docs',
    goal: 'Find what the README promises and no document explains, and write those documents with examples that run.',
  },
  {
    words: 'Update the dependencies',
    goal: 'Update all dependencies to their newest versions, one after the other, and keep all tests green.',
  },
] as const
