/** JSON that somebody typed. Knows no page. */

/** Throws what is wrong, in words. @param {string} text @returns {Record<string, any>} */
export function parsedObject(text) {
  /** @type {unknown} */
  let value
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('A JSON object is expected: { … }')
  return value
}
