/** Hands a file over to the browser, which saves it where its person wants it. */
export function saveFile(name: string, parts: string[], type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts, { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
