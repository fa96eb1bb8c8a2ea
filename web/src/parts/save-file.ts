/** Hands a file to the browser, which saves it where the user wants it. */
export function saveFile(name: string, parts: string[], type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts, { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
