/** What a short name may have. Pure. */
export const isSlug = (text: string) => /^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/.test(text)

/** "The Shop" is "the-shop". */
export const slugFrom = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9._@-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 100)
