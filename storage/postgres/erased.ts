/** What PostgreSQL keeps of deleted rows, in words for its administrator. */
export function restOfTables(tables: string): string {
  return (
    `PostgreSQL writes over deleted rows when it needs their room; VACUUM FULL ${tables} takes them out of the files at once and keeps writers out ` +
    `meanwhile. Its write-ahead log and its archives keep them as long as they are kept`
  )
}
