import COpenSSL

/// The curve of wallets' keys (SEC 2 §2.4.1), as far as registrations need it.
enum Secp256k1 {
    /// A number of the curve has this many bytes.
    static let scalarCount = 32

    /// The public key that made a signature of a digest, as its point's two coordinates; nil where
    /// no key did (SEC 1 §4.1.6).
    ///
    /// Of the two signatures that are as good as each other only the one with the lower `s` counts,
    /// as in Ethereum (EIP-2). The point that `r` comes from is taken to have `r` itself as its
    /// coordinate: one beyond the curve's order turns up once in 2¹²⁸ signatures.
    static func publicKey(of digest: [UInt8], r: [UInt8], s: [UInt8], isOdd: Bool) -> [UInt8]? {
        guard let work = CurveWork() else { return nil }
        guard let (r, s) = work.checked(r: r, s: s), let digest = work.number(digest),
            let commitment = work.point(x: r, isOdd: isOdd),
            let inverse = BN_mod_inverse(work.number(), r, work.order, work.context),
            let ofBase = work.product(digest, inverse), let ofPoint = work.product(s, inverse),
            BN_sub(ofBase, work.order, ofBase) == 1
        else { return nil }
        return work.coordinates(base: ofBase, point: commitment, times: ofPoint)
    }

    /// The public key of a private one, as its point's two coordinates; nil for 0 and for numbers
    /// beyond the order.
    static func publicKey(of scalar: [UInt8]) -> [UInt8]? {
        guard let work = CurveWork(), let number = work.number(scalar), BN_is_zero(number) == 0,
            BN_cmp(number, work.order) < 0
        else { return nil }
        return work.coordinates(base: number, point: nil, times: nil)
    }

    /// The `s` below half of the order that is as good as this one.
    static func lower(_ s: [UInt8]) -> [UInt8]? {
        guard let work = CurveWork(), let number = work.number(s) else { return nil }
        if BN_cmp(number, work.half) > 0, BN_sub(number, work.order, number) != 1 { return nil }
        var bytes = [UInt8](repeating: 0, count: scalarCount)
        return BN_bn2binpad(number, &bytes, Int32(scalarCount)) == scalarCount ? bytes : nil
    }
}

/// The curve and the numbers and points of one computation, freed with it.
private final class CurveWork {
    let group: OpaquePointer
    let context: OpaquePointer
    let order: OpaquePointer
    let half: OpaquePointer
    private var points: [OpaquePointer] = []

    init?() {
        guard let group = EC_GROUP_new_by_curve_name(NID_secp256k1), let context = BN_CTX_new() else { return nil }
        (self.group, self.context) = (group, context)
        BN_CTX_start(context)
        guard let order = EC_GROUP_get0_order(group), let half = BN_CTX_get(context), BN_rshift1(half, order) == 1
        else { return nil }
        (self.order, self.half) = (order, half)
    }

    deinit {
        for point in points { EC_POINT_free(point) }
        BN_CTX_end(context)
        BN_CTX_free(context)
        EC_GROUP_free(group)
        // What was no point is no fault of the library, whose errors would be another's.
        ERR_clear_error()
    }

    /// A number to compute into; it lives as long as the work.
    func number() -> OpaquePointer? { BN_CTX_get(context) }

    /// The number of these bytes, the high ones first.
    func number(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let number = number() else { return nil }
        return BN_bin2bn(bytes, Int32(clamping: bytes.count), number)
    }

    /// Both halves of a signature, if they may be those of one.
    func checked(r: [UInt8], s: [UInt8]) -> (r: OpaquePointer, s: OpaquePointer)? {
        guard let r = number(r), let s = number(s), BN_is_zero(r) == 0, BN_is_zero(s) == 0, BN_cmp(r, order) < 0,
            BN_cmp(s, half) <= 0
        else { return nil }
        return (r, s)
    }

    func product(_ left: OpaquePointer, _ right: OpaquePointer) -> OpaquePointer? {
        guard let product = number(), BN_mod_mul(product, left, right, order, context) == 1 else { return nil }
        return product
    }

    func point(x: OpaquePointer, isOdd: Bool) -> OpaquePointer? {
        guard let point = point(), EC_POINT_set_compressed_coordinates(group, point, x, isOdd ? 1 : 0, context) == 1
        else { return nil }
        return point
    }

    /// The coordinates of `base`·G + `times`·`point`, 64 bytes; nil for the point at infinity.
    func coordinates(base: OpaquePointer, point: OpaquePointer?, times: OpaquePointer?) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65)
        guard let sum = self.point(), EC_POINT_mul(group, sum, base, point, times, context) == 1,
            EC_POINT_is_at_infinity(group, sum) == 0,
            EC_POINT_point2oct(group, sum, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
        else { return nil }
        return Array(bytes.dropFirst())
    }

    private func point() -> OpaquePointer? {
        guard let point = EC_POINT_new(group) else { return nil }
        points.append(point)
        return point
    }
}
