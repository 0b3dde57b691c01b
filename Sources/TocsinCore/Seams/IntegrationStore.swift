/// What a read may ask about integrations' keys and what came in by them.
package protocol IntegrationReading {
    /// The key whose text has this digest, whether it is good or not.
    func integrationKey(digest: String) throws(StoreError) -> IntegrationKey?
    /// The keys of an integration, the oldest first; a write has them to itself.
    func integrationKeys(of integration: String) throws(StoreError) -> [IntegrationKey]
    /// The sealed secrets of an integration by name.
    func integrationSecrets(of integration: String) throws(StoreError) -> [IntegrationSecret: String]
    /// What came in through an integration; nil: nothing.
    func integrationCounts(of integration: String) throws(StoreError) -> IntegrationCounts?
    /// The last requests of an integration, the latest first.
    func receivedRequests(of integration: String, limit: Int) throws(StoreError) -> [ReceivedRequest]
}

/// How integrations' keys and what came in by them are written.
package protocol IntegrationWriting {
    /// Inserts the key, or replaces the end of the one with its digest.
    func save(_ key: IntegrationKey) throws(StoreError)
    /// Removes keys of an integration that ended before a moment.
    func removeIntegrationKeys(of integration: String, endedBefore moment: Timestamp) throws(StoreError)
    /// Keeps a sealed secret in place of any other of this name; nil removes it.
    func saveSecret(_ name: IntegrationSecret, of integration: String, sealed: String?) throws(StoreError)
    /// Adds to what came in through an integration.
    func add(_ counts: IntegrationCounts) throws(StoreError)
    /// Keeps a request.
    func insert(_ request: ReceivedRequest) throws(StoreError)
    /// Removes the requests of an integration but for the latest.
    func removeReceivedRequests(of integration: String, keeping count: Int) throws(StoreError)
    /// Removes requests from before a moment, at most so many; answers how many.
    func removeReceivedRequests(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// Removes all that hangs on an integration: keys, secrets, counts, requests.
    func removeIntegrationRows(of integration: String) throws(StoreError)
}
