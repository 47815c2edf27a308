#include "gateway/logic/event_ring.h"

#include <array>
#include <charconv>

#include "core/base/text.h"

namespace tarcil::gateway {
namespace {

std::string hex(uint64_t number) {
  std::array<char, 16> digits{};
  const auto written = std::to_chars(digits.begin(), digits.end(), number, 16);
  return {digits.begin(), written.ptr};
}

std::optional<uint64_t> readHex(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, 16);
  if (text.size() > 16 || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

size_t bytesOf(const Event& event) {
  return event.name.size() + event.data.size() + event.owner.size();
}

}  // namespace

std::string EventPosition::text() const {
  return hex(instance) + "-" + hex(number);
}

Result<EventPosition> EventPosition::parse(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto instance = readHex(text.substr(0, dash)), number = readHex(text.substr(dash + 1));
    if (instance && number) return EventPosition{*instance, *number};
  }
  return invalid("Last-Event-ID: " + shown(text) +
                 " is no id of an event; write one that a stream gave, or leave it out");
}

std::string textOf(const EventPosition& id, std::string_view name, std::string_view data) {
  std::string text = "id: " + id.text() + "\nevent: ";
  text.append(name).append("\ndata: ").append(data).append("\n\n");
  return text;
}

void EventRing::add(Event event) {
  ++last_;
  bytes_ += bytesOf(event);
  events_.push_back(std::move(event));
  while (events_.size() > bounds_.events || (bytes_ > bounds_.bytes && events_.size() > 1)) {
    bytes_ -= bytesOf(events_.front());
    events_.pop_front();
  }
}

void EventRing::forget(std::string_view why) {
  events_.clear();
  bytes_ = 0;
  ++last_;
  forgottenUpTo_ = last_;
  whyForgotten_ = why;
}

EventRing::Page EventRing::behind(const EventPosition& position, const Caller& caller, size_t atMost) const {
  const uint64_t first = last_ - events_.size();  // the number before that of the first that is there
  const bool isOurs = position.instance == instance_ && position.number <= last_;
  Page page{.text = {}, .next = {instance_, isOurs ? position.number : last_}};
  if (!isOurs || position.number < first) {
    page.isReset = true;
    page.next.number = isOurs ? first : last_;
    const bool isWhole = isOurs && position.number < forgottenUpTo_;
    const std::string_view why =
        !isOurs   ? "the event that you name is another gateway's, or of an earlier start"
        : isWhole ? std::string_view(whyForgotten_)
                  : "the event that you name is no longer known: others have come since";
    page.text = textOf(page.next, "reset", "{\"reason\":\"" + std::string(why) + "\"}");
  }
  while (page.next.number < last_ && page.text.size() < atMost) {
    const Event& event = events_[page.next.number - first];
    ++page.next.number;
    if (event.owner.empty() || maySteer(caller, event.owner))
      page.text += textOf(page.next, event.name, event.data);
  }
  return page;
}

}  // namespace tarcil::gateway
