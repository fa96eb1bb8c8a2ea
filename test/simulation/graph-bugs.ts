import type { PlantedBug } from './planted-bug.ts'

/** Mistakes in counting what tasks depend on. */
export const graphBugs = {
  countsTwice: {
    says: 'A dependency that is reported twice is counted twice.',
    foundBy: ['countsAreOfDependencies'],
    view: (view) => ({
      ...view,
      dependencies: new Map(
        [...view.dependencies].map(([name, one]) => [name, { ...one, countedVersion: 0, outcome: null }]),
      ),
    }),
  },
  takesOldReports: {
    says: 'A late report of how an upstream task stood before replaces a newer one.',
    foundBy: ['reportsGoForward'],
    view: (view) => ({
      ...view,
      dependencies: new Map(
        [...view.dependencies].map(([name, one]) => [name, { ...one, countedVersion: 0 }]),
      ),
    }),
  },
} satisfies Record<string, PlantedBug>
