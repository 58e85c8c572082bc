/** The ids of rows, a page after the other: each read answers those behind an id. */
export async function* pagesOf(
  read: (after: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): AsyncGenerator<readonly string[]> {
  let after = ''
  for (;;) {
    const rows = await read(after)
    const ids = rows.map((row) => String(row['id']))
    const last = ids.at(-1)
    if (last === undefined) return
    after = last
    yield ids
  }
}
