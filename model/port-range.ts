/** Ports from one to another, both of them included. */
export interface PortRange {
  readonly from: number
  readonly to: number
}
