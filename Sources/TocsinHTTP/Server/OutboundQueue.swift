import GraphQLTransport
import Metrics
import NIOCore

/// What waits for one peer to read, and its bound; the same for sockets and event streams.
///
/// What is appended in one turn of the loop is one write. Confined to its event loop.
final class OutboundQueue {
    /// The handler that writes; without one nothing is written.
    var context: ChannelHandlerContext?
    /// Told when everything has been taken by the system, unless that is only what many get.
    var drained: () -> Void = {}
    /// Told when more waits than may.
    var exceeded: () -> Void = {}
    /// Told once that the peer is cut because it does not read.
    var wasCut: (SocketMetrics.Slowness) -> Void = { _ in }
    /// What among all that waits has waited for room before: it is bounded already.
    var stored: () -> SocketQueue.Load = { SocketQueue.Load() }
    /// Whose memory it is that waits.
    var holder: () -> MemoryHolder = { .address(nil) }
    /// Whoever appends will flush too, in this turn.
    var isHeld = false
    /// It was given what many get, and is to be settled at the end of this turn.
    private var isTouched = false

    private let writer: WatchedWriter
    private let metrics: CarrierMetrics
    private let budget: MemoryBudget
    /// What has waited for the peer to read has of the memory budget.
    private var share: MemoryShare?
    private let framing: ResponseBatch.Framing
    private let maximumBytes: Int
    private let maximumEvents: Int
    /// Bytes not yet given to the channel.
    private var pending = ByteBuffer()
    private var pendingEvents = 0
    private var inFlightEvents = 0
    /// Events of subscriptions that are pending and not counted yet.
    private var uncountedEvents = 0
    /// Bytes that were told to wait for the peer.
    private var waitingBytes = 0
    /// It was counted that the peer does not read.
    private var isCut = false
    private var isFlushScheduled = false
    /// Something is pending for which `drained` is to be told.
    private var tellsDrained = false

    init(
        _ writer: WatchedWriter,
        _ framing: ResponseBatch.Framing,
        _ metrics: CarrierMetrics,
        _ budget: MemoryBudget,
        settings: HTTPServerSettings
    ) {
        self.writer = writer
        self.metrics = metrics
        self.budget = budget
        self.framing = framing
        maximumBytes = settings.maximumQueueBytes
        maximumEvents = settings.maximumQueueEvents
    }

    /// Whether the system has taken everything.
    var isEmpty: Bool { pending.readableBytes == 0 && writer.inFlightBytes == 0 }

    /// Appends and sees to it that it is written soon.
    func append(events: Int = 0, _ write: (inout ByteBuffer) -> Void) {
        write(&pending)
        tellsDrained = true
        appended(events)
    }

    /// Appends what many get, whose bytes are not copied when nothing else is pending;
    /// written when it is settled.
    ///
    /// Answers whether it is the first in this turn.
    func append(_ batch: ResponseBatch, _ envelope: inout ResponseEnvelope) -> Bool {
        defer { appended(batch.count) }
        uncountedEvents += batch.count
        let bytes = batch.bytes(&envelope, framing)
        if pending.readableBytes == 0 {
            pending = bytes
        } else {
            pending.writeImmutableBuffer(bytes)
        }
        guard !isTouched else { return false }
        isTouched = true
        return true
    }

    /// All that many get in this turn is there.
    func settle() {
        isTouched = false
        flush()
    }

    private func appended(_ events: Int) {
        pendingEvents += events
        if pending.readableBytes >= 262_144 { flush() }
        if !isHeld, !isTouched { scheduleFlush() }
        guard let excess else { return }
        noteCut(excess)
        exceeded()
    }

    /// What is appended next is an event of a subscription.
    func noteEvent() { uncountedEvents += 1 }

    /// The peer is to be cut; counted once.
    func noteCut(_ slowness: SocketMetrics.Slowness) {
        guard !isCut else { return }
        isCut = true
        writer.givenUp = nil
        metrics.cut[slowness].add()
        wasCut(slowness)
    }

    /// What the writer calls; made once, not for each write.
    private lazy var givenUp: () -> Void = { [unowned self] in noteCut(.write) }

    /// Flushes, and tells `drained` when all is out, whatever it is.
    func flushToEnd() {
        tellsDrained = true
        flush()
    }

    /// Gives the channel all that is pending, unless it still holds the last write.
    func flush() {
        isFlushScheduled = false
        guard let context, writer.inFlightBytes == 0 else { return }
        guard pending.readableBytes > 0 else { return tellDrained() }
        var buffer = pending
        // A quiet connection keeps no buffer.
        pending = ByteBuffer()
        count(buffer.readableBytes)
        if writer.writeAtOnce(&buffer) {
            pendingEvents = 0
            return tellDrained()
        }
        inFlightEvents = pendingEvents
        pendingEvents = 0
        guard hold(buffer.readableBytes) else {
            // A peer that has got a part of a frame cannot be told.
            noteCut(.bytes)
            context.close(mode: .all, promise: nil)
            return
        }
        noteWaiting(buffer.readableBytes)
        writer.givenUp = isCut ? nil : givenUp
        writer.write(buffer, context) { [self] isWritten in
            inFlightEvents = 0
            noteWaiting(0)
            guard isWritten else { return }
            share = nil
            pending.readableBytes > 0 ? scheduleFlush() : tellDrained()
        }
    }

    /// Counts what goes out now.
    private func count(_ bytes: Int) {
        metrics.bytes.add(bytes)
        if pendingEvents > 0 { metrics.frames.add(pendingEvents) }
        guard uncountedEvents > 0 else { return }
        metrics.events.add(uncountedEvents)
        uncountedEvents = 0
    }

    private func noteWaiting(_ bytes: Int) {
        guard bytes != waitingBytes else { return }
        metrics.queueBytes.add(bytes - waitingBytes)
        waitingBytes = bytes
    }

    private func tellDrained() {
        guard tellsDrained else { return }
        tellsDrained = false
        drained()
    }

    /// Forgets what has not been written and writes nothing more.
    func stop() {
        context = nil
        drained = {}
        exceeded = {}
        wasCut = { _ in }
        stored = { SocketQueue.Load() }
        holder = { .address(nil) }
        pending = ByteBuffer()
        share = nil
        noteWaiting(0)
        writer.givenUp = nil
    }

    /// Counts what waits for the peer to read; false where that is more than may.
    private func hold(_ bytes: Int) -> Bool {
        if share == nil, bytes <= MemoryShare.freeBytes { return true }
        let share = share ?? MemoryShare(budget)
        self.share = share
        return share.hold(bytes, for: holder())
    }

    /// What of that which waits is more than may; nil where nothing is.
    ///
    /// The count of events matters only while the peer does not read: a burst is no fault of its
    /// own.
    private var excess: SocketMetrics.Slowness? {
        guard writer.inFlightBytes > 0 else { return nil }
        let bytes = pending.readableBytes + writer.inFlightBytes
        noteWaiting(bytes)
        guard hold(bytes) else { return .bytes }
        let events = pendingEvents + inFlightEvents
        if bytes <= maximumBytes, events <= maximumEvents { return nil }
        let stored = stored()
        if bytes > maximumBytes + stored.bytes { return .bytes }
        return events > maximumEvents + stored.items ? .events : nil
    }

    private func scheduleFlush() {
        guard !isFlushScheduled, let context else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute { self.flush() }
    }
}
