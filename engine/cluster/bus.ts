/**
 * What the processes of a cluster say to each other directly: small, quick, and lost where nobody listens. What must not be
 * lost goes through the link or a store; here whoever needs to know counts what it gets.
 */
export interface ClusterBus {
  /** False while nothing that is said is heard. */
  readonly connected: boolean
  onConnection(listener: (connected: boolean) => void): () => void
  /**
   * Says it to everybody who listens to the subject, the speaker included; one speaker's words are heard in their order, or not at all. False
   * where it is known to be lost: away, too long, or more is on its way than the bus takes.
   */
  publish(subject: string, body: string): boolean
  /** Listens until the returned function is called. */
  subscribe(subject: string, onMessage: (body: string) => void): () => void
  /** Resolves when what was said is at the server and what was subscribed is in force. Rejects where the connection is lost. */
  flush(): Promise<void>
}
