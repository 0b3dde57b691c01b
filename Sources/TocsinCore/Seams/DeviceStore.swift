/// What a read may ask about devices.
package protocol DeviceReading {
    /// All devices of a user, active or not, by id.
    func devices(of user: UserID) throws(StoreError) -> [Device]
    /// The devices with these ids, in no promised order.
    func devices(ids: [DeviceID]) throws(StoreError) -> [Device]
    /// Devices of everybody after an id, by id, at most `limit`.
    func devices(after id: DeviceID?, limit: Int) throws(StoreError) -> [Device]
    /// How many active devices there are of each platform that has any.
    func deviceCounts() throws(StoreError) -> [PushPlatform: Int]
    /// Active devices of everybody on these platforms after an id, by id, at most `limit`.
    func activeDevices(
        on platforms: Set<PushPlatform>,
        after id: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Device]
    /// Devices of any app with this token.
    func devices(token: String) throws(StoreError) -> [Device]
    /// Devices of any app whose token begins with this text and a colon.
    func devices(tokenBeginningWith text: String) throws(StoreError) -> [Device]
    /// Active devices whose pushes end with this token.
    func devices(boundTo token: TokenID) throws(StoreError) -> [Device]
    /// Devices of everybody that were registered with a proof of this address.
    func devices(address: String) throws(StoreError) -> [Device]
    /// Whether a user wants no pushes.
    func isMuted(_ user: UserID) throws(StoreError) -> Bool
}

/// How devices are written; what ends with a device ends in the same transaction.
package protocol DeviceWriting {
    /// Inserts the device or replaces the one with its id.
    func save(_ device: Device) throws(StoreError)
    /// Notes on which side of Apple's a device is, if that is not known yet.
    func learnEnvironment(_ environment: PushEnvironment, of id: DeviceID) throws(StoreError)
    /// Marks the device inactive if its registration is not newer than `moment`; answers whether it
    /// did.
    func retireDevice(_ id: DeviceID, reason: DeliveryReason, registeredBy moment: Timestamp) throws(StoreError) -> Bool
    /// Removes the device and notes that.
    ///
    /// Fan-outs that wait still answer it, ended for this reason and without its token.
    func removeDevice(_ id: DeviceID, reason: DeliveryReason) throws(StoreError)
    /// Notes that a challenge was used; answers false, and does nothing, where it was used before.
    func useNonce(_ nonce: String, until moment: Timestamp) throws(StoreError) -> Bool
    /// Forgets the nonces of challenges that ended before a moment; answers how many.
    func removeNonces(before moment: Timestamp) throws(StoreError) -> Int
    /// Keeps whether a user wants no pushes, and notes it if so.
    func setMuted(_ isMuted: Bool, of user: UserID, now: Timestamp) throws(StoreError)
}
