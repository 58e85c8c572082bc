/** Whether the text holds the other one, in whatever case; `%` in it stands for any letters. Databases say the same in SQL (`predicates-sql.ts`). */
export function containsText(text: string, wanted: string): boolean {
  let rest = text.toLowerCase()
  for (const part of wanted.toLowerCase().split('%')) {
    const at = rest.indexOf(part)
    if (at < 0) return false
    rest = rest.slice(at + part.length)
  }
  return true
}
