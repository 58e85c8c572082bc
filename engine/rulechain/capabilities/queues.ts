/** The tenant's queues. */
export interface NodeQueues {
  /** What the link calls the queue that the tenant means by the name; undefined where there is none. */
  linkName(tenantId: string, name: string): Promise<string | undefined>
}
