/** Names of programs as people read them. Knows no page. */

/** `maxDevices` as people read it. @param {string} name */
export function words(name) {
  const apart = /[a-z]/.test(name) ? name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2') : name.replaceAll('_', ' ')
  const lower = apart.toLowerCase()
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}
