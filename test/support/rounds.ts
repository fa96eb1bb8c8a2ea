/** How often a race or a property is tried: a few times in `npm test`, many times in `npm run test:long`, which sets this. */
const isLong = process.env.BATON_TEST_ROUNDS === 'many'

export const rounds = (few: number, many: number): number => (isLong ? many : few)
