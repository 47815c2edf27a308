#include "agent/logic/uploads.h"

#include <utility>

namespace tarcil::agent {

void Uploads::add(Arrival arrival) {
  std::deque<Upload>& queue = queues_[arrival.record.user];
  queue.push_back({++lastId_, std::move(arrival)});
  ++size_;
}

Arrival* Uploads::find(const JobId& job) {
  for (auto& [user, queue] : queues_) {
    for (Upload& upload : queue) {
      if (upload.arrival.record.id == job) return &upload.arrival;
    }
  }
  return nullptr;
}

std::optional<SendPiece> Uploads::next() {
  if (underWay_ || queues_.empty()) return std::nullopt;
  auto queue = queues_.upper_bound(turn_);
  if (queue == queues_.end()) queue = queues_.begin();
  turn_ = queue->first;
  Upload& upload = queue->second.front();
  underWay_ = upload.id;
  const JobRecord& record = upload.arrival.record;
  const uint32_t number = upload.sent++;
  return SendPiece{upload.id, record.id, record.user, record.fileBytes, number, upload.arrival.files[number]};
}

std::optional<Arrival> Uploads::stored(UploadId id) {
  if (underWay_ != id) return std::nullopt;
  underWay_.reset();
  if (first().sent < first().arrival.files.size()) return std::nullopt;
  return takeFirst();
}

std::optional<Arrival> Uploads::end(UploadId id) {
  if (underWay_ != id) return std::nullopt;
  underWay_.reset();
  return takeFirst();
}

std::vector<Arrival> Uploads::takeAll() {
  std::vector<Arrival> all;
  for (auto& [user, queue] : queues_) {
    for (Upload& upload : queue) all.push_back(std::move(upload.arrival));
  }
  queues_.clear();
  underWay_.reset();
  size_ = 0;
  return all;
}

Arrival Uploads::takeFirst() {
  const auto queue = queues_.find(turn_);
  Arrival arrival = std::move(queue->second.front().arrival);
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  --size_;
  return arrival;
}

}  // namespace tarcil::agent
