/** A dashboard as a file, in ThingsBoard's form. Knows no page. */

/** @typedef {Record<string, any>} Json */

/** Without what belongs to this server alone; the files that it shows are in it. @param {Json} dashboard as the server answers it */
export function dashboardFile({ title, image, mobileHide, mobileOrder, configuration, name, resources }) {
  return `${JSON.stringify({ title, image, mobileHide, mobileOrder, configuration, name, resources }, null, 2)}\n`
}

/** What is saved for it. Throws with what is wrong. @param {string} text @returns {Json} */
export function dashboardOfFile(text) {
  /** @type {any} */
  let read
  try {
    read = JSON.parse(text)
  } catch {
    throw new Error('The file is not JSON. Choose a dashboard that was exported.')
  }
  const { title, image, mobileHide, mobileOrder, configuration, resources } = read ?? {}
  if (typeof title !== 'string' || typeof configuration !== 'object' || configuration === null)
    throw new Error('The file is no dashboard: it has no "title" or no "configuration".')
  return { title, image, mobileHide, mobileOrder, configuration, resources }
}
