-- sysbench's own OLTP transactions (oltp_read_write), each due at a moment of its own.
--
-- The rate is high and low by turns, starting high. Each thread takes every Nth due
-- time. Latency counts from the moment a transaction was due, so that a stall cannot
-- hide; each one that ended is a line in LATENCIES.THREAD: seconds from the origin to
-- its end, and milliseconds.

require("oltp_read_write")

local ffi = require("ffi")
ffi.cdef[[
typedef struct { long seconds; long nanoseconds; } lissom_time;
int clock_gettime(int clock, lissom_time *time);
int usleep(unsigned int microseconds);
]]

local number = sysbench.cmdline.ARG_DOUBLE
local options = sysbench.cmdline.options
options.high_rate = {"Transactions per second in a high phase; 0: as many as there can be", 0.0, number}
options.low_rate = {"Transactions per second in a low phase", 0.0, number}
options.high_seconds = {"Seconds of a high phase", 50.0, number}
options.low_seconds = {"Seconds of a low phase", 10.0, number}
options.seconds = {"Seconds in which transactions become due", 60.0, number}
options.origin = {"The start, in seconds of CLOCK_MONOTONIC", 0.0, number}
options.latencies = {"Where latencies go; the thread's number is added", ""}

local MONOTONIC = 1
local LONGEST_SLEEP = 500000

local clock = ffi.new("lissom_time[1]")
local opt, due, file

local function now()
   ffi.C.clock_gettime(MONOTONIC, clock)
   return tonumber(clock[0].seconds) - opt.origin + tonumber(clock[0].nanoseconds) / 1e9
end

local function wait_until(moment)
   local left = moment - now()
   while left > 0 do
      ffi.C.usleep(math.min(left * 1e6, LONGEST_SLEEP))
      left = moment - now()
   end
end

local function rate_at(moment)
   if moment % (opt.high_seconds + opt.low_seconds) < opt.high_seconds then
      return opt.high_rate
   end
   return opt.low_rate
end

local begin_thread, end_thread, transaction = thread_init, thread_done, event

function thread_init()
   begin_thread()
   opt = sysbench.opt
   file = assert(io.open(opt.latencies .. "." .. sysbench.tid, "w"))
   file:setvbuf("full", 65536)
   due = opt.high_rate > 0 and sysbench.tid / opt.high_rate or 0
   wait_until(0)
end

function event()
   -- After an error that can be ignored this is called again, for the same due time.
   if opt.high_rate == 0 then
      due = now()
   end
   if due >= opt.seconds then
      return true
   end
   wait_until(due)
   transaction()
   local ended = now()
   file:write(string.format("%.3f %.3f\n", ended, (ended - due) * 1000))
   due = due + opt.threads / math.max(rate_at(due), 1e-9)
end

function thread_done()
   file:close()
   end_thread()
end
