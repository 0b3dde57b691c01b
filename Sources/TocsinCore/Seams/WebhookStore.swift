/// What a read may ask about events for webhooks.
package protocol WebhookEventReading {
    /// When the earliest waiting event of a webhook, or lease on one, is due; nil when there is
    /// none.
    func nextWebhookEventDue(of webhook: String) throws(StoreError) -> Timestamp?
    /// Events in this state, all of them for nil, the oldest first, at most `limit`.
    func webhookEvents(status: WebhookEvent.Status?, limit: Int) throws(StoreError) -> [WebhookEvent]
}

/// How events for webhooks are made, claimed, settled and removed.
package protocol WebhookEventWriting {
    /// Inserts events that wait.
    func add(_ events: [WebhookEvent]) throws(StoreError)
    /// Takes due events of a webhook (`waiting`, or `sending` under a lease that ran out), due
    /// first, and leases them.
    func claimWebhookEvents(
        of webhook: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [WebhookEvent]
    /// Removes a delivered event, where its lease still is `lease`.
    func finish(_ event: WebhookEvent, heldUntil lease: Timestamp) throws(StoreError)
    /// Writes the outcome of a failed attempt, where its lease still is `lease`.
    func record(_ event: WebhookEvent, heldUntil lease: Timestamp) throws(StoreError)
    /// Makes dead events of a webhook, or of all for nil, due again with no attempts counted;
    /// answers how many.
    func redriveWebhookEvents(of webhook: String?, now: Timestamp) throws(StoreError) -> Int
    /// Removes events that were made before `moment`, whatever their state, at most
    /// `limit`; answers how many.
    func removeWebhookEvents(madeBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
}
