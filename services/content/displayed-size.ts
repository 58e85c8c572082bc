/** A number of bytes as messages about limits say it, rounded down to its unit (`rest-api.md` 2.4). */
const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB']

export function displayedSize(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < UNITS.length - 1) {
    size = Math.floor(size / 1024)
    unit++
  }
  return `${size} ${UNITS[unit]}`
}
