/**
 * Milliseconds of processor time that this process has used so far. For bounds on work that is done here and now: the wall's clock measures
 * what else the machine does too. Threads of the engine that collect garbage count.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
